// A method whose next step is queued on the SynchronizationContext of the thread that waits for it; and what only looks
// like one. Threads that a runtime has stopped there are in test/real/waits.py.
#include "analysis/waits/context_queues.h"
#include "snapshot/snapshot.h"
#include "support/async_calls.h"
#include "support/known_stacks.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 exposed_at = 0x300; // in a Thread

struct Screens : Calls {
  explicit Screens(const HeapShape &shape) : Calls(shape) {
    give_stacks(heap);
    heap.more_fields["Thread"]["ExposedObject"] = static_cast<i64>(exposed_at);
    context = heap.method_table({.base_size = size(1), .rid = rid("System.Threading", "SynchronizationContext")});
    screen = holder(rid("Shop", "Screen"), "queue", context);
    const Address delegate = heap.method_table({.base_size = size(1), .rid = rid("System", "Delegate")});
    action = holder(rid("System", "Action"), "_target", delegate);
    thread_type = holder(rid("System.Threading", "Thread"), "_synchronizationContext", 0);
  }

  Address holder(u32 rid, const char *name, Address parent) {
    const Address type = heap.method_table({.base_size = size(1), .rid = rid, .parent = parent, .series = {{p, p}}});
    heap.fields(type, {field(name, ElementType::Object, 0)});
    return type;
  }
  Address with(Address type, Address object) {
    const Address at = old.object(type);
    old.store(at + p, object, p);
    return at;
  }
  // Gives each thread its context, and looks for what the first one waits for.
  std::map<TaskNumber, QueuedStep> find(const std::vector<Address> &contexts) {
    std::vector<Address> handles;
    for (Address one : contexts)
      handles.push_back(heap.native.words({with(thread_type, one)}));
    heap.target();
    for (u64 i = 0; i < handles.size(); ++i)
      heap.poke(heap.threads[i].address + exposed_at, handles[i], p);
    SnapshotOptions options;
    options.threads = 1;
    Snapshot snapshot(heap.target(), options);
    Tasks tasks(snapshot);
    LockSet locks;
    locks.threads = snapshot.runtime().threads(locks.problems);
    EXPECT_GE(locks.threads.size(), contexts.size());
    ThreadWait wait;
    wait.kind = WaitKind::task;
    number = tasks.find(call);
    return find_queued_steps(snapshot, locks, tasks, {wait});
  }

  Address context = 0, screen = 0, action = 0, thread_type = 0, call = 0;
  TaskNumber number = no_task;
};

TEST(ContextQueues, AMethodThatIsQueuedOnTheWaitingThreadsOwnContext) {
  Screens s({.net = Net::net10});
  s.call = s.method(s.pay, 0, s.of_type(s.delay, done));
  const Address screen = s.with(s.screen, s.with(s.action, s.call));
  const std::map<TaskNumber, QueuedStep> found = s.find({screen, 0});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->first, s.number);
  EXPECT_EQ(found.begin()->second.context, screen);
  EXPECT_EQ(found.begin()->second.thread, 0u);
}

TEST(ContextQueues, NothingWhereSomethingElseIsAwaited) {
  Screens s({.net = Net::net10});
  s.call = s.method(s.pay, 0, s.of_type(s.delay, waiting));
  EXPECT_TRUE(s.find({s.with(s.screen, s.with(s.action, s.call)), 0}).empty());
}

TEST(ContextQueues, NothingWhereTheMethodRuns) {
  Screens s({.net = Net::net10});
  s.call = s.method(s.pay, -1, 0);
  EXPECT_TRUE(s.find({s.with(s.screen, s.with(s.action, s.call)), 0}).empty());
}

TEST(ContextQueues, NothingWhereTwoThreadsServeTheContext) {
  Screens s({.net = Net::net10});
  s.call = s.method(s.pay, 0, s.of_type(s.delay, done));
  const Address screen = s.with(s.screen, s.with(s.action, s.call));
  EXPECT_TRUE(s.find({screen, screen}).empty());
}

TEST(ContextQueues, NothingWhereNoDelegateContinuesIt) {
  Screens s({.net = Net::net10});
  s.call = s.method(s.pay, 0, s.of_type(s.delay, done));
  EXPECT_TRUE(s.find({s.with(s.screen, s.call), 0}).empty());
}

// .NET 11: a call that the runtime suspended is queued as its task, and the call itself has the context in it.
TEST(ContextQueues, ACallThatTheRuntimeSuspended) {
  Screens s({.net = Net::net11});
  const u64 p = s.p;
  const Address call_type = s.heap.continuation_type(2 * p, {0});
  const u32 helpers = s.rid("System.Runtime.CompilerServices", "AsyncHelpers");
  const Address task_type =
      s.heap.method_table({.base_size = s.size(5),
                           .rid = s.heap.app().metadata.nested(helpers, "RuntimeAsyncTask<Int32>"),
                           .parent = s.task});
  s.heap.fields(task_type, {s.field("m_stateObject", ElementType::Object, 2 * p)});
  const Address task = s.of_type(task_type, waiting), screen = s.with(s.screen, task);
  s.call = s.old.object(call_type);
  s.old.store(task + 3 * p, s.call, p);
  s.old.store(s.call + 2 * p, 0x5000, p); // where it resumes: leads nowhere
  s.old.store(s.call + 3 * p + 8, screen, p);
  const std::map<TaskNumber, QueuedStep> found = s.find({screen, 0});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->first, s.number);
  EXPECT_EQ(found.begin()->second.context, screen);
}

// That type queues on the thread pool.
TEST(ContextQueues, NothingForTheContextOfThePool) {
  Screens s({.net = Net::net10});
  s.call = s.method(s.pay, 0, s.of_type(s.delay, done));
  s.screen = s.holder(s.rid("System.Threading", "SynchronizationContext"), "queue", 0);
  EXPECT_TRUE(s.find({s.with(s.screen, s.with(s.action, s.call)), 0}).empty());
}

} // namespace
} // namespace dnheap::test
