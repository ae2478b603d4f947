// Hangs: does the program hang, in figures and words for the verdict: deadlocks, a thread pool whose workers are all
// blocked while work waits for them. Walks the stacks of all threads once; looks at locks and tasks only where a thread
// waits for one or for a Mutex, a semaphore has asynchronous waiters, and not where there are more than 500,000 of
// those, or up to 10,000 asynchronous calls are pending; at the pool's queues only where no worker is idle. One thread.
#pragma once
#include "analysis/verdict/verdict.h"
#include "snapshot/snapshot.h"

namespace dnheap {

HangFacts find_hangs(Snapshot &snapshot);

// Of that only where the thread stands that runs a finalizer: "waits for an event in Shop.Handle.Finalize"; empty: none
// does. What could not be read of threads is in `problems`.
std::string find_finalizer_place(Snapshot &snapshot, std::vector<std::string> &problems);

} // namespace dnheap
