// ThreadWaits: the lock, task, event, wait handle or thread that each thread waits for. Its sources are .NET's wait
// subsystem, the runtime's records, objects and, if these show nothing, words on the thread's stack. Also the circles
// in which threads, or tasks alone, wait for each other: no member of a circle ever goes on. Needs the tasks, all
// stacks, and all roots if a lock counts waiters that no record names. Not for several threads at once.
#pragma once
#include "analysis/plan.h"
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
  finalizers, // GC.WaitForPendingFinalizers
  callback    // the end of a callback of a CancellationToken
};
const char *name_of(WaitKind kind);

struct ThreadWait {
  u32 thread = 0; // index in LockSet::threads
  WaitKind kind = WaitKind::lock;
  Address object = 0;            // the lock, the event, the task; for a static constructor, its type's MethodTable
  bool is_by_stack = false;      // known only by a word on the thread's stack, which may be left over
  bool has_limit = false;        // it ends after some time in any case, as far as records or its methods show it
  bool is_limit_unknown = false; // unknown whether it has a time limit or can be cancelled
  bool is_for_any = false;       // it waits for several objects, and goes on as soon as one of them is signaled
  // The thread that runs the static constructor, finalizers or the callback; or that is joined.
  std::optional<u32> runs_on = {};
  bool is_for_callback = false; // what it waits for is the end of a callback of a timer or of a CancellationToken
};

// A member of a circle: a thread, or a task that some thread or task waits for.
struct WaitingOne {
  std::optional<u32> thread; // index in LockSet::threads
  Address task = 0;
  bool is_use_unknown = false; // it is unknown whether the next member's methods add to the collection or take from it
  // A lock, a semaphore, a task. 0: it runs on the next member's thread, waits for the end of that thread, or waits for
  // finalizers.
  Address waits_for = 0;
  bool is_for_finalizers = false;
  bool is_for_callback = false; // it waits for the end of a callback that the next member runs
  // Its next step is queued on `waits_for`, a SynchronizationContext of which the next member is the thread, or a
  // TaskScheduler whose work that thread runs.
  bool is_for_context = false;
  Grounds grounds = Grounds::runtime; // how we know that the next member holds `waits_for`, or is it
  Address through = 0;                // an object through which the next member refers to `waits_for`
  std::string method;                 // the next member's method that refers to it; empty: unknown
  bool has_limit = false;             // it goes on after some time in any case
  bool is_limit_unknown = false;      // it is unknown whether it goes on in any case, or can be cancelled
};

// Many waiters for one semaphore, with nobody who is known to go on and release it.
struct Crowd {
  Address semaphore = 0;
  u64 threads = 0, calls = 0;           // threads and asynchronous calls that wait without a time limit
  std::vector<SemaphoreHolder> holders; // those that have already passed that wait
  u64 size() const { return threads + calls; }
};

struct ThreadWaits {
  std::vector<ThreadWait> waits; // by thread; a thread that waits for several things at once has several
  std::vector<std::vector<WaitingOne>> circles;
  // Semaphores without permits that somebody waits for → who may have taken one; at most 64 for each.
  std::map<Address, std::vector<SemaphoreHolder>> may_have_taken;
  std::vector<Crowd> crowds;             // the largest first
  std::map<Address, std::string> fields; // semaphore → the field that has it or its collection
};

// Returns the waits, and enters into `locks` who waits for each.
ThreadWaits find_waits(const Snapshot &snapshot, LockSet &locks, Tasks &tasks);
// Adds the passes that find_waits() may need: references, to find out who may have taken a semaphore's permit.
void foresee_waits(Plan &plan);

} // namespace dnheap
