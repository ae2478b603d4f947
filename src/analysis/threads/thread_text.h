// What threads are called and what they seem to wait for, in words: for the verbs that list threads. One thread.
#pragma once
#include "report/table.h"
#include "runtime/runtime.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// Thread.Name; of the finalizer thread, which has none, what the operating system calls it. Empty: none, or unknown.
std::string thread_name(const Runtime &runtime, const ThreadDetails &details);
// "background, pool worker"; empty: cannot be told.
std::string thread_state(const ThreadDetails &details);

// The methods that stand on a stack, innermost first: no explicit Frames, none that an exception has left.
std::vector<const StackFrame *> method_frames(const WalkedStack &stack);
// The method that a frame is of; where that is not known, module and offset or, in no module, the address.
MethodText frame_text(const Runtime &runtime, const StackFrame &frame);
MethodText place_text(const Target &target, Address ip); // of no known method
struct WaitText {
  std::string text;     // "a lock", "sleep"; empty: it does not wait in a way that is known
  u64 frames = 0;       // from the innermost on, that are about waiting
  bool is_idle = false; // one of .NET's own threads, which has nothing to do
};
// By the innermost methods.
WaitText waits_for(const Runtime &runtime, const WalkedStack &stack);
// Of one that waits by .NET's own wait subsystem: does it end by itself after some time? Nothing: the innermost methods
// do not show it, as where the native call is a part of the method.
std::optional<bool> wait_has_limit(const Runtime &runtime, const WalkedStack &stack);
// Do its methods leave open whether the wait ends by itself: after some time (ReaderWriterLockSlim.TryEnter…), or when
// it is cancelled, as what it was called with refers to a CancellationTokenSource?
// `is_limit_noted`: the runtime has noted that it has no limit of time.
bool may_end_by_itself(const Runtime &runtime, const WalkedStack &stack, bool is_limit_noted);
// As waits_for() says it of GC.WaitForPendingFinalizers.
inline constexpr const char *wait_for_finalizers = "finalizers";
// The same of BlockingCollection.
inline constexpr const char *wait_for_item = "an item in a BlockingCollection",
                            *wait_for_place = "a free place in a BlockingCollection";

// Why a thread's stack, or the list of threads, could not be followed to its end.
struct StackProblem {
  std::optional<u64> os_id; // nothing: of no single thread
  std::string why;
};
// The table `problems`: one row for each reason, in their order, with the threads that have it. Text shows it only
// where there is one, or where it is asked for.
report::Table problems_table(const std::vector<StackProblem> &problems, bool is_asked);

struct ThreadsOfSubject {
  std::vector<ThreadData> threads;
  std::string note; // where the word could mean another thread, too
};
// The threads that a word means: one operating system's id, else a managed id, else the address of a Thread; of an
// empty word all. Throws NotFound where there is none.
ThreadsOfSubject threads_of_subject(const std::vector<ThreadData> &threads, const std::string &subject);

} // namespace dnheap
