// ThreadPlaces: describes for findings where the most threads are, where the finalizer thread is, and where any one
// thread is, with its source line if the module's symbols are found. The caller adds each thread's stack once; only a
// count per place, and the first threads of each, are kept. Not for several threads at once.
#pragma once
#include "analysis/names/framework_names.h"
#include "analysis/threads/thread_text.h"
#include "snapshot/snapshot.h"
#include "snapshot/source_lines.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace dnheap {

// Threads that are in the same method of the program, and wait for the same kind of thing there.
struct ThreadGroup {
  std::string waits_for; // "a task"; empty: they run, or how they wait is unknown
  std::string method;    // of the program, in words
  std::string calls;     // the method of .NET, or the native function, that the program's method calls; empty: none
  u64 count = 0;
  // The place of the first of them.
  Address method_desc = 0, ip = 0;
  bool is_active = false;
  bool is_in_native = false; // the program's method, or .NET's for it, called native code that is no known wait
  std::vector<u32> threads;  // their indices in the list of threads, of many only the first
  std::string detail = {};   // which semaphore they wait for: "static Shop.Pool.free, 0 of 10 free"; empty: unknown
};

// Returns what a thread waits for in native code, where no method shows it: "data of a socket", "a connection". Empty:
// nothing that is known.
std::string native_wait_of(const Runtime &runtime, const WalkedStack &stack);

class ThreadPlaces {
public:
  // `lines` must outlive this object.
  ThreadPlaces(const Snapshot &snapshot, SourceLines &lines)
      : runtime_(snapshot.runtime()), framework_(snapshot.assemblies()), lines_(lines) {}

  // `thread`: its index in the list of threads.
  void add(u32 thread, const WalkedStack &stack, const WaitText &wait);
  // Returns "sleeps in Shop.Loader.Run (Loader.cs:41)", "waits for an event"; "runs" if the stack does not show where.
  std::string of(const WalkedStack &stack, const WaitText &wait);
  // False if of() cannot name a method.
  bool shows_method(const WalkedStack &stack, const WaitText &wait) const { return place_behind(stack, wait).frame; }
  // Returns the largest group of threads, and the program's method in which most of these are: "700 of them sleep, in
  // Shop.Poller.Run". Empty if no two threads are alike.
  std::string most() const;
  // Returns "waits for an event in Shop.Handle.Finalize (Handle.cs:12)"; empty if no thread runs a finalizer.
  const std::string &finalizer() const { return finalizer_; }
  std::optional<u32> finalizer_thread() const { return finalizer_thread_; }
  // Returns the groups of threads that are in a method of the program, without idle threads and without a main thread
  // that only waits for the program's end.
  std::vector<ThreadGroup> groups() const;

private:
  using GroupKey = std::tuple<std::string, std::string, std::string, bool>;
  struct Place {
    std::string method; // empty: the stack does not show it
    const StackFrame *frame = nullptr;
    std::string calls; // the method that it calls, if that is .NET's; without parameters
  };
  Place place_behind(const WalkedStack &stack, const WaitText &wait) const;
  void add_to_groups(u32 thread, const WalkedStack &stack, const WaitText &wait, const Place &place);
  // " (Loader.cs:41)"; empty: unknown.
  std::string line_of(const StackFrame &frame);

  const Runtime &runtime_;
  const FrameworkNames framework_;
  SourceLines &lines_;
  std::map<std::string, std::map<std::string, u64>> counts_; // by wait and method
  std::map<GroupKey, ThreadGroup> groups_;                   // by wait, method, what it calls, and is_in_native
  std::string finalizer_;
  std::optional<u32> finalizer_thread_;
};

} // namespace dnheap
