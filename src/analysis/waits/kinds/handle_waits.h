// HandleWaits: threads that wait for a WaitHandle (Mutex, Semaphore, AutoResetEvent, …). A thread's innermost methods
// show that it waits, and the SafeWaitHandle that these methods hold shows for which object. The object's state is kept
// by the operating system, so it is unknown here. Walks each stack, and the heap if any thread waits so. Not for
// several threads at once.
#pragma once
#include "snapshot/snapshot.h"

namespace dnheap {

struct HandleWait {
  u32 thread = 0;     // index in the list of threads
  Address object = 0; // the WaitHandle
  bool is_mutex = false;
};

std::vector<HandleWait> find_handle_waits(const Snapshot &snapshot, const std::vector<ThreadData> &threads);

} // namespace dnheap
