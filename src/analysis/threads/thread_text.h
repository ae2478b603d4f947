// Describes threads in words for the verbs that list them: their names, and what they seem to wait for. Not for several
// threads at once.
#pragma once
#include "base/notes.h"
#include "report/table.h"
#include "runtime/runtime.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct ThreadDetails;
class NativeFunctions;

// Returns Thread.Name; for the finalizer thread, which has none, its name in the operating system. Empty: none, or
// unknown.
std::string thread_name(const Runtime &runtime, const ThreadDetails &details);
// Returns "background, pool worker"; empty if unknown.
std::string thread_state(const ThreadDetails &details);

// Returns the methods on a stack, innermost first, without explicit Frames and without frames that an exception has
// left.
std::vector<const StackFrame *> method_frames(const WalkedStack &stack);
// Returns the frame's method; if that is unknown, module and offset or, outside of modules, the address.
MethodText frame_text(const Runtime &runtime, const StackFrame &frame);
MethodText place_text(const Target &target, Address ip); // for an address that is not in a known method
// The same with the native function, if its symbol is found: "libc.so.6!poll+0x4f". `is_return`: a call returns there.
MethodText place_text(const Target &target, NativeFunctions &functions, Address ip, bool is_return);
// Returns the native frames of a thread that the runtime does not list. The thread holds no objects.
WalkedStack native_stack(const Runtime &runtime, u64 os_id);
struct WaitText {
  std::string text;     // "a lock", "sleep"; empty: the thread does not wait, or how it waits is unknown
  u64 frames = 0;       // number of innermost frames that are part of waiting
  bool is_idle = false; // the thread is one of .NET's own, and has no work
};
// Returns "sleeps", "waits for an event"; for many threads "sleep", "wait for an event". `text`: WaitText::text, or
// what else somebody waits for; not empty.
std::string wait_in_words(std::string_view text, bool is_many);
// Finds out by the innermost methods what a thread waits for.
WaitText waits_for(const Runtime &runtime, const WalkedStack &stack);
// True if a wait by .NET's own wait subsystem has a time limit, false if it has none. Nullopt if the innermost methods
// do not show it, for example because the native call is inlined.
std::optional<bool> wait_has_limit(const Runtime &runtime, const WalkedStack &stack);
// True if the wait may end without a release or a signal, as far as its methods show: after some time
// (ReaderWriterLockSlim.TryEnter…), or, if an argument refers to a CancellationTokenSource, by cancellation.
// `is_limit_noted`: the runtime has recorded that the wait has no time limit.
bool may_end_by_itself(const Runtime &runtime, const WalkedStack &stack, bool is_limit_noted);
// The result of waits_for() for GC.WaitForPendingFinalizers.
inline constexpr const char *wait_for_finalizers = "finalizers";
// The result of waits_for() for disposing of a CancellationTokenRegistration whose callback runs.
inline constexpr const char *wait_for_callback = "the end of a callback";
// Results of waits_for() for BlockingCollection.
inline constexpr const char *wait_for_item = "an item in a BlockingCollection",
                            *wait_for_place = "a free place in a BlockingCollection";

// The reason why a thread's stack, or the list of threads, is incomplete.
struct StackProblem {
  std::optional<u64> os_id; // absent: the problem is not that of a single thread
  std::string why;
};
// Returns the table `problems`: one row for each reason, in their order, with its threads. Text shows the table only if
// it has rows, or if it is asked for.
report::Table problems_table(const std::vector<StackProblem> &problems, bool is_asked);
// Returns the note of an answer whose table `problems` has rows.
Note partly_known_note();

struct ThreadsOfSubject {
  std::vector<ThreadData> threads;
  std::string note; // set if the word could mean another thread, too
};
// Returns the threads that a word means: the thread with that OS id, else with that managed id, else the Thread at that
// address; all threads for an empty word. Throws NotFound if there is none.
ThreadsOfSubject threads_of_subject(const std::vector<ThreadData> &threads, const std::string &subject);

} // namespace dnheap
