// ThreadPlaces: describes for findings where the most threads are, where the finalizer thread is, and where any one
// thread is, with its source line if the module's symbols are found. The caller adds each thread's stack once; only a
// count per place is kept. Not for several threads at once.
#pragma once
#include "analysis/names/framework_names.h"
#include "analysis/threads/thread_text.h"
#include "snapshot/snapshot.h"
#include "snapshot/source_lines.h"

#include <map>
#include <optional>
#include <string>

namespace dnheap {

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

private:
  struct Place {
    std::string method; // empty: the stack does not show it
    const StackFrame *frame = nullptr;
  };
  Place place_behind(const WalkedStack &stack, const WaitText &wait) const;
  // " (Loader.cs:41)"; empty: unknown.
  std::string line_of(const StackFrame &frame);

  const Runtime &runtime_;
  const FrameworkNames framework_;
  SourceLines &lines_;
  std::map<std::string, std::map<std::string, u64>> counts_; // by wait and method
  std::string finalizer_;
  std::optional<u32> finalizer_thread_;
};

} // namespace dnheap
