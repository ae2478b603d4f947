#include "analysis/hangs.h"

#include "analysis/deadlock_text.h"
#include "analysis/inspect/pool_stands.h"
#include "analysis/inspect/thread_pool.h"
#include "analysis/inspect/typed_objects.h"
#include "analysis/thread_text.h"
#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

// Of waits_for(): what may be a member of a circle.
constexpr const char *waits_of_circles[] = {
    "a lock",   "a lock (System.Threading.Lock)", "a lock (ReaderWriterLockSlim)", "a semaphore", "a task",
    "an event", "a pulse (Monitor.Wait)"};
constexpr u64 most_asynchronous_waiters = 10000; // of more `locks` tells: that takes longer than all else here
constexpr const char *asynchronous_waiter = "System.Threading.SemaphoreSlim+TaskNode";

bool may_be_in_a_circle(const Runtime &runtime, const ThreadData &thread) {
  if (thread.os_id.value_or(0) == 0)
    return false;
  const std::string text = waits_for(runtime, runtime.walk_stack(thread)).text;
  return std::find(std::begin(waits_of_circles), std::end(waits_of_circles), text) != std::end(waits_of_circles);
}

bool may_be_deadlocked(Snapshot &snapshot, HangFacts &out) {
  const Runtime &runtime = snapshot.runtime();
  std::vector<std::string> problems; // said where threads are listed
  const std::vector<ThreadData> threads = runtime.threads(problems);
  const std::vector<Address> types =
      types_that(snapshot, [&](Address mt) { return runtime.types().name(mt) == asynchronous_waiter; });
  const u64 waiters = types.empty() ? 0 : objects_of(snapshot, types).size();
  if (waiters > most_asynchronous_waiters) {
    out.note = "deadlocks were not looked for, since " + count_text(waiters) +
               " asynchronous methods wait for semaphores: dnheap locks does";
    return false;
  }
  return waiters || std::any_of(threads.begin(), threads.end(),
                                [&](const ThreadData &thread) { return may_be_in_a_circle(runtime, thread); });
}

void add_deadlocks(Snapshot &snapshot, HangFacts &to) {
  Tasks tasks(snapshot);
  LockSet locks = find_locks(snapshot);
  const ThreadWaits waits = find_waits(snapshot, locks, tasks);
  DeadlockText text(snapshot.runtime(), tasks, locks);
  Sureness best = Sureness::possible;
  for (const DeadlockText::Circle &circle : waits.circles) {
    const Sureness sureness = text.sureness_of(circle);
    if (!to.deadlocks || sureness < best) {
      best = sureness;
      to.deadlock_text = text.brief(circle);
      to.deadlock_sureness = static_cast<u64>(sureness);
    }
    ++to.deadlocks;
  }
}

} // namespace

HangFacts find_hangs(Snapshot &snapshot) {
  HangFacts out;
  if (may_be_deadlocked(snapshot, out))
    add_deadlocks(snapshot, out);
  const PoolStands stands = find_pool_stands(snapshot);
  out.pool_workers = stands.workers;
  out.pool_blocked = stands.blocked;
  out.pool_text = stands.text();
  if (is_mostly_blocked(out))
    out.pool_queued = read_thread_pool(snapshot).queued_items;
  return out;
}

} // namespace dnheap
