// find_lost_signals: which events nobody can signal any more, depending on who refers to them; in every layout. Threads
// that really wait are in test/real/findings.py.
#include "analysis/waits/lost_signals.h"
#include "support/known_stacks.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 waiter = 1, other = 0; // threads; the waiter is not the main thread

struct Countdown : LibraryHeap {
  explicit Countdown(const HeapShape &shape) : LibraryHeap(shape) {
    give_stacks(heap);
    const char *threading = "System.Threading";
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

  Address event_type, countdown_type, barrier_type, holder_type, event;
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

} // namespace
} // namespace dnheap::test
