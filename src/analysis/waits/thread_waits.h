// ThreadWaits: what each thread waits for, as far as .NET's wait subsystem, the runtime's notes, objects and, where
// these say nothing, words on its stack show: a lock, a task, an event, a wait handle, a thread. And who waits for whom
// in a circle, threads or tasks alone: nobody of those ever goes on. Needs the tasks, all stacks, and where a lock
// tells of waiters that no note tells of, all roots. One thread.
#pragma once
#include "analysis/waits/semaphore_holders.h"

namespace dnheap {

enum class WaitKind : u8 {
  lock,
  pulse,
  event,
  semaphore,
  task,
  mutex,
  wait_handle,
  join,
  static_constructor,
  finalizers // GC.WaitForPendingFinalizers
};
const char *name_of(WaitKind kind);

struct ThreadWait {
  u32 thread = 0; // index in LockSet::threads
  WaitKind kind = WaitKind::lock;
  Address object = 0;              // the lock, the event, the task; of a static constructor its type's MethodTable
  bool is_by_stack = false;        // only told by a word on the thread's stack, which may be left over
  bool has_limit = false;          // it ends by itself after some time, as far as that is noted or its methods show it
  bool is_limit_unknown = false;   // whether it does, or when it is cancelled, is not known
  bool is_for_any = false;         // it waits for others as well, and goes on as soon as one of them comes
  std::optional<u32> runs_on = {}; // the thread that runs the static constructor, or finalizers
};

// One of those that wait in a circle: a thread, or a task that some thread or task waits for.
struct WaitingOne {
  std::optional<u32> thread; // index in LockSet::threads
  Address task = 0;
  bool is_use_unknown = false; // whether the next one does what that takes, its methods do not show
  // A lock, a semaphore, a task; 0: it runs on the next one's thread, or waits for its end, or for finalizers.
  Address waits_for = 0;
  bool is_for_finalizers = false;
  Grounds grounds = Grounds::runtime; // by which the next one is told to hold that, or to be it
  Address through = 0;                // an object by which the next one refers to what is waited for
  std::string method;                 // of the next one, that refers to it; empty: cannot be told
  bool has_limit = false;             // goes on by itself after some time
  bool is_limit_unknown = false;      // whether it does, or when it is cancelled, is not known
};

// Many before one semaphore, of which nobody is known to go on and give it back.
struct Crowd {
  Address semaphore = 0;
  u64 threads = 0, calls = 0;           // that wait without a limit of time
  std::vector<SemaphoreHolder> holders; // who stands behind that wait
  u64 size() const { return threads + calls; }
};

struct ThreadWaits {
  std::vector<ThreadWait> waits; // by thread; of one that waits for several things at once, one for each
  std::vector<std::vector<WaitingOne>> circles;
  // Of semaphores without permits that somebody waits for: who may have taken one; at most 64 of each.
  std::map<Address, std::vector<SemaphoreHolder>> may_have_taken;
  std::vector<Crowd> crowds;             // the largest first
  std::map<Address, std::string> fields; // that have these semaphores, or the collections whose they are
};

// Enters into `locks` who waits for each.
ThreadWaits find_waits(Snapshot &snapshot, LockSet &locks, Tasks &tasks);

} // namespace dnheap
