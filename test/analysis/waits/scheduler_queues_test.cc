// A task that has not begun, queued on a TaskScheduler of the program, while the threads that run work of it wait; and
// what only looks like one. Threads that a runtime has stopped there are in test/real/findings.py.
#include "analysis/waits/scheduler_queues.h"
#include "snapshot/snapshot.h"
#include "support/async_calls.h"
#include "support/known_stacks.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u32 started = 0x10000, invoked = 0x20000;

struct Works : Calls {
  Works() : Calls({.net = Net::net10}) {
    give_stacks(heap);
    base = heap.method_table({.base_size = size(1), .rid = rid("System.Threading.Tasks", "TaskScheduler")});
    own = scheduler_type(rid("Shop", "OneByOne"));
    pool = scheduler_type(rid("System.Threading.Tasks", "ThreadPoolTaskScheduler"));
    pair = scheduler_type(heap.app().metadata.nested(rid("System.Threading.Tasks", "ConcurrentExclusiveSchedulerPair"),
                                                     "ConcurrentExclusiveTaskScheduler"));
    work = heap.method_table({.base_size = size(4), .rid = rid("Shop", "Work"), .parent = task});
    heap.fields(work, {field("m_taskScheduler", ElementType::Object, 2 * p)});
  }

  Address scheduler_type(u32 rid) {
    const Address type = heap.method_table({.base_size = size(1), .rid = rid, .parent = base});
    heap.fields(type, {field("m_maxConcurrencyLevel", ElementType::I4, 0)});
    return type;
  }
  Address scheduler(Address type, u32 at_a_time) {
    const Address at = old.object(type);
    old.store(at + p, at_a_time, 4);
    return at;
  }
  Address task_of(Address scheduler, u32 flags) {
    const Address at = of_type(work, flags);
    old.store(at + 3 * p, scheduler, p);
    return at;
  }
  // The first thread runs `running`, and waits for a task.
  std::map<TaskNumber, QueuedStep> find(Address running, WaitKind kind = WaitKind::task) {
    SnapshotOptions options;
    options.threads = 1;
    const Snapshot snapshot(heap.target(), options);
    const Tasks tasks(snapshot);
    LockSet locks;
    locks.threads = snapshot.runtime().threads(locks.problems);
    ThreadWait wait;
    wait.kind = kind;
    number = tasks.find(queued);
    return find_queued_tasks(snapshot, locks, tasks, {wait}, {{tasks.find(running), 0}});
  }

  Address base = 0, own = 0, pool = 0, pair = 0, work = 0, queued = 0;
  TaskNumber number = no_task;
};

TEST(SchedulerQueues, ATaskBehindTheOnlyThread) {
  Works w;
  const Address scheduler = w.scheduler(w.own, 0), running = w.task_of(scheduler, started | invoked);
  w.queued = w.task_of(scheduler, started);
  const std::map<TaskNumber, QueuedStep> found = w.find(running);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->first, w.number);
  EXPECT_EQ(found.begin()->second.context, scheduler);
  EXPECT_EQ(found.begin()->second.thread, 0u);
}

TEST(SchedulerQueues, NothingWhereTheThreadWaitsForSomethingElse) {
  Works w;
  const Address scheduler = w.scheduler(w.own, 0), running = w.task_of(scheduler, started | invoked);
  w.queued = w.task_of(scheduler, started);
  EXPECT_TRUE(w.find(running, WaitKind::lock).empty());
}

TEST(SchedulerQueues, NothingOnThePoolOrOnAnotherScheduler) {
  Works w;
  const Address pool = w.scheduler(w.pool, 0), running = w.task_of(pool, started | invoked);
  w.queued = w.task_of(pool, started);
  EXPECT_TRUE(w.find(running).empty());
  Works other;
  const Address first = other.scheduler(other.own, 0), second = other.scheduler(other.own, 0);
  other.queued = other.task_of(second, started);
  EXPECT_TRUE(other.find(other.task_of(first, started | invoked)).empty());
}

TEST(SchedulerQueues, APairByTheNumberOfTasksAtATime) {
  for (const u32 at_a_time : {1u, 2u}) {
    Works w;
    const Address scheduler = w.scheduler(w.pair, at_a_time), running = w.task_of(scheduler, started | invoked);
    w.queued = w.task_of(scheduler, started);
    EXPECT_EQ(w.find(running).size(), at_a_time == 1 ? 1u : 0u);
  }
}

} // namespace
} // namespace dnheap::test
