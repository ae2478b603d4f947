// find_lost_signals: which events nobody can signal any more, depending on who refers to them; in every layout. Threads
// that really wait are in test/real/findings.py.
#include "analysis/waits/lost_signals.h"
#include "support/known_stacks.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 waiter = 1, other = 0, third = 2; // threads; the waiter is not the main thread

struct Countdown : LibraryHeap {
  explicit Countdown(const HeapShape &shape) : LibraryHeap(shape) {
    heap.threads.push_back({});
    heap.threads.back().os_id = 4711;
    give_stacks(heap);
    const char *threading = "System.Threading";
    semaphore_type = type(threading, "SemaphoreSlim", 0, 4, {"!m_currentCount", "!m_maxCount"});
    event_type = type(threading, "ManualResetEventSlim", 0, 4, {"m_lock", "!m_combinedState"});
    countdown_type = type(threading, "CountdownEvent", 0, 5, {"!_currentCount", "!_initialCount", "_event"});
    barrier_type =
        type(threading, "Barrier", 0, 7, {"_oddEvent", "_evenEvent", "%_currentPhase", "!_currentTotalCount"});
    holder_type = type("Shop", "Press", 0, 3, {"done"});
    event = with(event_type, {0, 1});
  }
  Address countdown(u64 missing, u64 all) { return with(countdown_type, {missing, all, event}); }
  Address barrier(u64 arrived, u64 participants) {
    return with(barrier_type, {event, 0, 4, arrived << 16 | participants});
  }
  void push(u64 thread, Address object) {
    const Address at = heap.threads[thread].stack_pointer + 16 * p;
    later.emplace_back(at, object);
  }

  // Returns the objects that nobody can signal if the threads wait so; stores the first of them.
  std::vector<Address> lost_of(std::vector<ThreadWait> waits, std::vector<LockObject> more = {}) {
    heap.target();
    for (const auto &[at, value] : later)
      heap.poke(at, value, p);
    const Snapshot snapshot(heap.target(), {});
    LockSet locks = find_locks(snapshot);
    locks.locks.insert(locks.locks.end(), more.begin(), more.end());
    locks.sort_locks();
    std::vector<Address> out;
    for (const LostSignal &one : find_lost_signals(snapshot, locks, waits)) {
      out.push_back(one.event);
      first = out.size() == 1 ? one : first;
    }
    return out;
  }
  static ThreadWait waits(u32 thread, WaitKind kind, Address object) {
    ThreadWait out;
    out.thread = thread, out.kind = kind, out.object = object;
    return out;
  }

  // Returns which signals of events are missing if the thread waits for the object.
  std::vector<std::string> lost(Address object, ThreadWait wait = {}, u32 thread = waiter) {
    heap.target();
    for (const auto &[at, value] : later)
      heap.poke(at, value, p);
    const Snapshot snapshot(heap.target(), {});
    const LockSet locks = find_locks(snapshot);
    wait.thread = thread;
    wait.kind = WaitKind::event;
    wait.object = object;
    std::vector<std::string> out;
    for (const LostSignal &one : find_lost_signals(snapshot, locks, std::span(&wait, 1))) {
      EXPECT_EQ(one.event, object);
      EXPECT_EQ(one.threads, std::vector<u32>{thread});
      out.push_back(one.missing);
    }
    return out;
  }

  Address event_type, countdown_type, barrier_type, holder_type, semaphore_type, event;
  LostSignal first;
  std::vector<std::pair<Address, Address>> later;
};

using Texts = std::vector<std::string>;

TEST(LostSignals, NobodyElseRefersToACountdown) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Countdown alone(shape);
    EXPECT_EQ(alone.lost(alone.countdown(1, 10)), Texts{"1 of 10 signals is missing"});
    Countdown own(shape);
    const Address waited_for = own.countdown(2, 10);
    own.push(waiter, own.with(own.holder_type, {waited_for}));
    EXPECT_EQ(own.lost(waited_for), Texts{"2 of 10 signals are missing"});
  }
}

TEST(LostSignals, SomebodyElseRefersToIt) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Countdown by_thread(shape);
    const Address waited_for = by_thread.countdown(1, 10);
    by_thread.push(other, by_thread.with(by_thread.holder_type, {waited_for}));
    EXPECT_EQ(by_thread.lost(waited_for), Texts{});
    Countdown by_handle(shape);
    const Address held = by_handle.countdown(1, 10);
    by_handle.heap.gc.handles = {{.type = HandleType::strong, .object = by_handle.with(by_handle.holder_type, {held})}};
    EXPECT_EQ(by_handle.lost(held), Texts{});
  }
}

TEST(LostSignals, WaitsThatEnd) {
  for (void (*change)(ThreadWait &) :
       {+[](ThreadWait &wait) { wait.has_limit = true; }, +[](ThreadWait &wait) { wait.is_limit_unknown = true; },
        +[](ThreadWait &wait) { wait.is_for_any = true; }, +[](ThreadWait &wait) { wait.is_by_stack = true; }}) {
    Countdown s({});
    ThreadWait wait;
    change(wait);
    EXPECT_EQ(s.lost(s.countdown(1, 10), wait), Texts{});
  }
  Countdown set({}), damaged({});
  EXPECT_EQ(set.lost(set.countdown(0, 10)), Texts{});
  EXPECT_EQ(damaged.lost(damaged.countdown(11, 10)), Texts{});
}

// A Barrier waits in parts; its method shows that there is no limit, and here no stack has a method.
TEST(LostSignals, ABarrierNeedsItsMethod) {
  Countdown s({});
  EXPECT_EQ(s.lost(s.barrier(2, 3)), Texts{});
}

// Programs park their main thread so.
TEST(LostSignals, AnEventOfAnotherThreadThanTheMainOne) {
  Countdown s({}), main({});
  EXPECT_EQ(s.lost(s.event), Texts{""});
  EXPECT_EQ(main.lost(main.event, {}, 0), Texts{});
}

using Objects = std::vector<Address>;

TEST(LostSignals, APulseAndASemaphore) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Countdown pulse(shape);
    const Address gate = pulse.with(pulse.holder_type, {0});
    LockObject desk; // the first worker has it
    desk.object = pulse.with(pulse.holder_type, {0}), desk.kind = LockKind::monitor;
    desk.is_held = true, desk.owner = waiter;
    const ThreadWait first = pulse.waits(waiter, WaitKind::pulse, gate),
                     second = pulse.waits(third, WaitKind::pulse, gate);
    EXPECT_EQ(pulse.lost_of({first, second}), Objects{}); // workers, for whom nobody waits
    EXPECT_EQ(pulse.lost_of({pulse.waits(other, WaitKind::lock, desk.object), first, second}, {desk}), Objects{gate});
    EXPECT_EQ(pulse.first.kind, WaitKind::pulse);
    EXPECT_EQ(pulse.first.threads, (std::vector<u32>{waiter, third}));
    EXPECT_TRUE(pulse.first.has_followers);
    Countdown held(shape);
    const Address semaphore = held.with(held.semaphore_type, {0, 4});
    held.push(other, semaphore);
    EXPECT_EQ(held.lost_of({held.waits(waiter, WaitKind::semaphore, semaphore)}), Objects{});
    Countdown alone(shape);
    const Address taken = alone.with(alone.semaphore_type, {0, 4});
    EXPECT_EQ(alone.lost_of({alone.waits(waiter, WaitKind::semaphore, taken)}), Objects{taken});
    EXPECT_EQ(alone.lost_of({alone.waits(other, WaitKind::semaphore, taken)}), Objects{}); // the main thread, parked
    Countdown signal(shape); // without a limit: perhaps it is where workers wait for work
    const Address given = signal.with(signal.semaphore_type, {0, 0x7fffffff});
    EXPECT_EQ(signal.lost_of({signal.waits(waiter, WaitKind::semaphore, given)}), Objects{});
  }
}

// A thread that waits, too, may go on, and signal then.
TEST(LostSignals, AWaiterThatGoesOnCanSignalOthers) {
  Countdown s({});
  const Address alive = s.event, behind = s.with(s.event_type, {0, 1});
  s.push(other, alive);
  s.push(third, behind);
  const ThreadWait goes_on = s.waits(third, WaitKind::event, alive), waits = s.waits(waiter, WaitKind::event, behind);
  EXPECT_EQ(s.lost_of({waits, goes_on}), Objects{});
  Countdown stuck({});
  const Address lost = stuck.event, also = stuck.with(stuck.event_type, {0, 1});
  stuck.push(third, also);
  EXPECT_EQ(stuck.lost_of({stuck.waits(waiter, WaitKind::event, also), stuck.waits(third, WaitKind::event, lost)}),
            (Objects{lost, also}));
}

} // namespace
} // namespace dnheap::test
