// `locks` of semaphores, which do not say who took them: what is inferred from references, and what is not; in every
// layout. Threads, with stacks that refer to semaphores, are in test/real/waits.py.
#include "analysis/verdict/hangs.h"
#include "base/text.h"
#include "support/async_calls.h"
#include "support/known_stacks.h"
#include "support/opened.h"
#include "support/rows.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Semaphores : Calls {
  explicit Semaphores(const HeapShape &shape) : Calls(shape) {
    give_stacks(heap);
    const u32 of_semaphore = rid("System.Threading", "SemaphoreSlim");
    type = heap.method_table({.base_size = size(6), .rid = of_semaphore});
    heap.fields(type, {field("m_currentCount", ElementType::I4, 0), field("m_maxCount", ElementType::I4, 4),
                       field("m_waitCount", ElementType::I4, 8), field("m_asyncHead", ElementType::Object, 16)});
    node = derived(of_semaphore, "TaskNode");
    heap.fields(node, {field("Next", ElementType::Object, 2 * p)});
    buy = heap.method_table({.base_size = size(4),
                             .rid = heap.app().metadata.nested(cart, "<Buy>d__3"),
                             .series = {{p, p}, {3 * p, 2 * p}}});
    heap.fields(buy, {field("<>u__1", ElementType::Object, 0), field("<>1__state", ElementType::I4, p),
                      field("first", ElementType::Object, 2 * p), field("second", ElementType::Object, 3 * p)});
    shop = heap.method_table({.base_size = size(2), .rid = rid("Shop", "Shop"), .series = {{p, 2 * p}}});
  }

  Address semaphore(u32 free = 0) {
    const Address at = old.object(type);
    old.store(at + p, free, 4);
    old.store(at + p + 4, 1, 4);
    return at;
  }
  Address shop_of(Address one, Address other) {
    const Address at = old.object(shop);
    old.store(at + p, one, p);
    old.store(at + 2 * p, other, p);
    return at;
  }
  // A place in its queue.
  Address wait(Address semaphore) {
    const Address at = of_type(node, waiting);
    old.store(at + 3 * p, heads[semaphore], p);
    heads[semaphore] = at;
    old.store(semaphore + p + 16, at, p);
    return at;
  }
  // A method with two variables.
  Address calls(Address awaited, Address first, Address second = 0) {
    const Address at = method(buy, 0, awaited);
    old.store(machines.at(at) + 3 * p, first, p);
    old.store(machines.at(at) + 4 * p, second, p);
    old.store(awaited + p, at, p);
    return at;
  }
  // One that stands behind its first await, with the first of these variables.
  Address behind(Address awaited, Address first) {
    const Address at = method(buy, 1, awaited);
    old.store(machines.at(at) + 3 * p, first, p);
    return at;
  }

  Address type = 0, node = 0, buy = 0, shop = 0;
  std::map<Address, Address> heads;
};

std::vector<TextRow> rows_of(Semaphores &semaphores, const char *table) {
  report::Answer answer = answer_of(semaphores.heap, "locks");
  return text_rows_of(answer, table);
}

TEST(Semaphores, TwoThatReferToWhatTheOtherWaitsFor) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Semaphores s(shape);
    const Address a = s.semaphore(), b = s.semaphore();
    const Address first = s.calls(s.wait(b), a, b), second = s.calls(s.wait(a), b, a);
    report::Answer answer = answer_of(s.heap, "locks");
    std::vector<TextRow> rows = text_rows_of(answer, "deadlocks");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["grounds"], "reference");
    EXPECT_TRUE(rows[0]["text"].starts_with("probably a deadlock: ")) << rows[0]["text"];
    for (const std::string &words :
         {"task " + hex(first) + " (Shop.Cart.Buy) waits for System.Threading.SemaphoreSlim " + hex(b) +
              ", to which task " + hex(second) + " (Shop.Cart.Buy) has a reference",
          std::string("does not record who took it")})
      EXPECT_NE(rows[0]["text"].find(words), std::string::npos) << rows[0]["text"];
    EXPECT_NE(headline_text(answer).find("; 1 PROBABLE DEADLOCK"), std::string::npos) << headline_text(answer);
    std::vector<TextRow> locks = text_rows_of(answer, "locks");
    ASSERT_EQ(locks.size(), 2u);
    EXPECT_EQ(locks[0]["waiting_text"], "Shop.Cart.Buy");
    EXPECT_EQ(locks[0]["taken_text"], "perhaps task " + hex(first) + " (Shop.Cart.Buy)");
  }
}

// Who goes on may have taken it.
TEST(Semaphores, NoDeadlockWhereSomebodyGoesOn) {
  Semaphores s({});
  const Address a = s.semaphore(), b = s.semaphore();
  s.calls(s.wait(b), a);
  s.calls(s.wait(a), b);
  const Address third = s.calls(s.of_type(s.delay, waiting), a);
  report::Answer answer = answer_of(s.heap, "locks");
  EXPECT_TRUE(text_rows_of(answer, "deadlocks").empty());
  EXPECT_EQ(headline_text(answer).find("DEADLOCK"), std::string::npos) << headline_text(answer);
  std::vector<TextRow> locks = text_rows_of(answer, "locks");
  ASSERT_EQ(locks.size(), 2u);
  EXPECT_NE(locks[0]["taken_text"].find(hex(third)), std::string::npos) << locks[0]["taken_text"];
}

TEST(Semaphores, NoDeadlockWhereAPermitIsFree) {
  Semaphores s({});
  const Address a = s.semaphore(1), b = s.semaphore();
  s.calls(s.wait(b), a);
  s.calls(s.wait(a), b);
  EXPECT_TRUE(rows_of(s, "deadlocks").empty());
}

// Of an object with both it cannot be told which of them a method took.
TEST(Semaphores, ByAnObjectItIsOnlyPossible) {
  Semaphores s({});
  const Address a = s.semaphore(), b = s.semaphore(), shop = s.shop_of(a, b);
  s.calls(s.wait(b), shop);
  s.calls(s.wait(a), shop);
  report::Answer answer = answer_of(s.heap, "locks");
  std::vector<TextRow> rows = text_rows_of(answer, "deadlocks");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["grounds"], "reference_by_object");
  EXPECT_TRUE(rows[0]["text"].starts_with("perhaps a deadlock: ")) << rows[0]["text"];
  EXPECT_NE(rows[0]["text"].find("has a reference by Shop.Shop " + hex(shop)), std::string::npos) << rows[0]["text"];
  EXPECT_NE(headline_text(answer).find("; 1 POSSIBLE DEADLOCK"), std::string::npos) << headline_text(answer);
}

// A permit that was never given back: many wait, and who calls them has the object, too.
TEST(Semaphores, ALostPermitIsNoDeadlock) {
  Semaphores s({});
  const Address a = s.semaphore(), shop = s.shop_of(a, 0);
  for (int i = 0; i < 3; ++i)
    s.calls(s.calls(s.wait(a), shop), shop);
  EXPECT_TRUE(rows_of(s, "deadlocks").empty());
}

// Where no thread and no semaphore is part of it.
TEST(Semaphores, TasksThatAwaitOneAnother) {
  Semaphores s({});
  const Address self = s.method(s.pay, 0, 0), left = s.method(s.pay, 0, 0), right = s.method(s.run, 1, left);
  s.await(self, self);
  s.await(left, right);
  s.method(s.run, 0, left); // awaits them, and is none of them
  report::Answer answer = answer_of(s.heap, "locks");
  std::vector<TextRow> rows = text_rows_of(answer, "deadlocks");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["text"], "task " + hex(self) + " (Shop.Cart.Pay) waits for itself");
  const std::string one = "task " + hex(left) + " (Shop.Cart.Pay)", other = "task " + hex(right) + " (Shop.Cart.Run)";
  EXPECT_EQ(rows[1]["text"], one + " waits for " + other + "; " + other + " waits for " + one);
  EXPECT_NE(headline_text(answer).find("; 2 DEADLOCKS"), std::string::npos) << headline_text(answer);
}

// A method that calls one that enters what it has entered.
TEST(Semaphores, TheSameOneTwice) {
  Semaphores s({});
  const Address a = s.semaphore();
  s.calls(s.calls(s.wait(a), a), a);
  std::vector<TextRow> rows = rows_of(s, "deadlocks");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["grounds"], "reference");
}

// Whoever stands in the method of those who wait, behind that wait, is the one; who only refers to it is not named.
TEST(Semaphores, WhoStandsBehindTheWait) {
  Semaphores s({});
  const Address a = s.semaphore();
  s.calls(s.wait(a), a);
  s.calls(s.wait(a), a);
  const Address holder = s.behind(s.of_type(s.delay, waiting), a);
  s.calls(s.of_type(s.delay, waiting), a);
  std::vector<TextRow> rows = rows_of(s, "locks");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["taken_text"], "probably task " + hex(holder) + " (Shop.Cart.Buy)");
}

// What `report` says of many who wait.
std::string hang_of(u64 waiting, u32 permits, bool has_holder, bool ends, u64 failed_calls = 0) {
  Semaphores s({});
  const Address a = s.semaphore();
  s.old.store(a + s.p + 4, permits, 4);
  for (u64 i = 0; i < waiting; ++i)
    s.calls(s.wait(a), a);
  if (has_holder)
    s.behind(ends ? s.of_type(s.delay, test::waiting) : s.of_type(s.task, test::waiting), a);
  for (u64 i = 0; i < failed_calls; ++i)
    s.method(s.buy, -2, 0, failed);
  Snapshot snapshot(s.heap.target(), {});
  SourceLines lines(snapshot);
  const std::vector<HangVerdict> hangs = judge_hangs(find_hangs(snapshot, lines));
  return hangs.empty() ? "" : hangs.front().text;
}

TEST(Semaphores, ManyBeforeOneAreACrowd) {
  EXPECT_EQ(hang_of(32, 1, false, false),
            "32 calls wait for a SemaphoreSlim, of which none is free. Its holder is "
            "unknown: perhaps a call that took it left without Release, as with an exception: release it in a "
            "finally.");
  EXPECT_EQ(hang_of(40, 1, true, false), "40 calls wait for a SemaphoreSlim, of which none is free. Shop.Cart.Buy "
                                         "probably has it. That is a hang only if this never ends.");
}

TEST(Semaphores, AFailedCallExplainsAFewThatWait) {
  EXPECT_EQ(hang_of(2, 1, false, false, 1),
            "2 calls wait for a SemaphoreSlim, of which none is free. Its holder is "
            "unknown: perhaps a call that took it left without Release, as with an exception: release it in a "
            "finally.");
  EXPECT_EQ(hang_of(2, 1, true, false, 1), ""); // somebody has it
  EXPECT_EQ(hang_of(2, 0x7fffffff, false, false, 1), "");
}

// Its next step is queued, so it goes on and releases.
TEST(Semaphores, WhoWasGivenItIsNoCrowd) {
  Semaphores s({});
  const Address a = s.semaphore();
  for (u64 i = 0; i < 40; ++i)
    s.calls(s.wait(a), a);
  s.calls(s.of_type(s.node, done), a);
  Snapshot snapshot(s.heap.target(), {});
  SourceLines lines(snapshot);
  EXPECT_TRUE(judge_hangs(find_hangs(snapshot, lines)).empty());
}

// The report shows what the calls do from the same look at them.
TEST(Semaphores, WhoWaitsIsKept) {
  Semaphores s({});
  const Address a = s.semaphore();
  for (u64 i = 0; i < 3; ++i)
    s.calls(s.wait(a), a);
  Snapshot snapshot(s.heap.target(), {});
  SourceLines lines(snapshot);
  Standing standing;
  find_hangs(snapshot, lines, &standing);
  u64 calls = 0;
  for (const CallGroup &group : standing.calls)
    calls += group.waits_for == "semaphore" ? group.count : 0;
  EXPECT_EQ(calls, 3u);
}

TEST(Semaphores, WhatIsNoCrowd) {
  for (const std::string &text : {hang_of(31, 1, false, false),         // few
                                  hang_of(40, 1, true, true),           // whoever has it goes on in time
                                  hang_of(40, 0x7fffffff, true, false), // perhaps a signal
                                  hang_of(40, 4, false, false)})
    EXPECT_EQ(text, "");
}

// A queue that leads back to itself ends.
TEST(Semaphores, AQueueInACircle) {
  Semaphores s({});
  const Address a = s.semaphore(), first = s.wait(a);
  s.wait(a);
  s.old.store(first + 3 * s.p, s.heads[a], s.p);
  std::vector<TextRow> rows = rows_of(s, "locks");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["waiters"], "2");
}

} // namespace
} // namespace dnheap::test
