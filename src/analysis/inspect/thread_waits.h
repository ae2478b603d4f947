// ThreadWaits: what each thread waits for, as far as the runtime's notes, objects and, where these say nothing, words
// on its stack tell: a lock, a task, an event. And who waits for whom in a circle: nobody of those ever goes on. Needs
// the tasks, and where a lock tells of waiters that no note tells of, all roots. One thread.
#pragma once
#include "analysis/inspect/lock_objects.h"
#include "analysis/inspect/tasks.h"

namespace dnheap {

enum class WaitKind : u8 { lock, pulse, event, semaphore, task };
const char *name_of(WaitKind kind);

struct ThreadWait {
  u32 thread = 0; // index in LockSet::threads
  WaitKind kind = WaitKind::lock;
  Address object = 0;       // the lock, the event, the task
  bool is_by_stack = false; // only told by a word on the thread's stack, which may be left over
};

// One of those that wait in a circle: a thread, or a task that some thread or task waits for.
struct WaitingOne {
  std::optional<u32> thread; // index in LockSet::threads
  Address task = 0;
  Address waits_for = 0; // a lock, a task; 0: the task runs on the next one's thread
  bool is_by_stack = false;
};

struct ThreadWaits {
  std::vector<ThreadWait> waits; // by thread
  std::vector<std::vector<WaitingOne>> circles;
};

// Enters into `locks` who waits for each.
ThreadWaits find_waits(Snapshot &snapshot, LockSet &locks, Tasks &tasks);

} // namespace dnheap
