// HandleWaits: threads that wait for a WaitHandle (Mutex, Semaphore, AutoResetEvent, …): their innermost methods tell,
// and the SafeWaitHandle that these hold tells which. Its state is the operating system's. A walk of
// each stack, and of the heap where any thread waits so. One thread.
#pragma once
#include "snapshot/snapshot.h"

namespace dnheap {

struct HandleWait {
  u32 thread = 0;     // index in the list of threads
  Address object = 0; // the WaitHandle
  bool is_mutex = false;
};

std::vector<HandleWait> find_handle_waits(Snapshot &snapshot, const std::vector<ThreadData> &threads);

} // namespace dnheap
