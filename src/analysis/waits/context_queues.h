// ContextQueues: async methods whose next step is queued on a SynchronizationContext, for example that of a user
// interface, while the thread that has this context as its own waits for a task. Such a context runs what is queued on
// its own thread, as a rule. A method counts only if it awaits nothing, and if its context leads by references to a
// delegate that continues it. Passes over contexts that several threads have. Looks at up to 10,000 objects behind each
// context; reads nothing but a few fields if no waiting thread has one. Not for several threads at once.
#pragma once
#include "analysis/waits/thread_waits.h"

namespace dnheap {

struct QueuedStep {
  Address context = 0; // the SynchronizationContext
  u32 thread = 0;      // index in the list of threads
};

// Returns the steps by the task of their method.
std::map<TaskNumber, QueuedStep> find_queued_steps(const Snapshot &snapshot, const LockSet &locks, const Tasks &tasks,
                                                   const std::vector<ThreadWait> &waits);

} // namespace dnheap
