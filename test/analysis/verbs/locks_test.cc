// `locks`: thin locks, monitors and who waits for them, circles; in every layout.
#include "base/text.h"
#include "runtime/coreclr/threads/sync_block_1.h"
#include "support/known_stacks.h"
#include "support/opened.h"
#include "support/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Locked {
  explicit Locked(const HeapShape &shape, u64 more_threads = 0)
      : heap(shape), old(heap.segment(GCSegmentGeneration::gen2)) {
    for (u64 i = 0; i < more_threads; ++i)
      heap.threads.push_back({.os_id = 5001 + i});
    give_stacks(heap);
    type = heap.type("Shop.Till", 2);
    for (int i = 0; i < 3; ++i)
      tills.push_back(old.object(type));
    for (u64 i = 0; i < 2; ++i)
      heap.sync_block(tills[i]);
    heap.target(); // from here on sync blocks have their places
    Opened opened(heap);
    SyncBlock1 blocks(opened.runtime.memory(), opened.runtime.descriptor());
    for (u32 i = 1; i <= 2; ++i)
      sync_blocks.push_back(blocks.entry(i)->sync_block);
  }

  // {u32 state, u32 recursion, owner, its id}
  void hold(u64 number, u64 thread, u32 recursion, u32 waiters) {
    const Address at = sync_blocks[number];
    heap.poke(at, 1 | waiters << 6, 4);
    heap.poke(at + 4, recursion, 4);
    const bool by_thread = heap.shape.net == Net::net8 || heap.shape.net == Net::net9;
    if (heap.p == 8 && !by_thread)
      heap.poke(at + 8, 0x7f1100000000, 8); // what lay there before: a number has 4 bytes
    heap.poke(at + 8, by_thread ? heap.threads[thread].address : thread + 1, by_thread ? heap.p : 4);
    heap.poke(at + 8 + heap.p, heap.threads[thread].os_id, heap.p);
  }

  // A note on the thread's stack: {monitor, AppDomain, u32 kind, u32 timeout, next}
  void wait(u64 thread, u64 number, u32 kind, u32 limit = 0xffffffff) {
    const Address note = heap.threads[thread].stack_limit + 0x1800;
    heap.poke(note, sync_blocks[number], heap.p);
    heap.poke(note + heap.p, 0x12340, heap.p);
    heap.poke(note + 2 * heap.p, kind, 4);
    heap.poke(note + 2 * heap.p + 4, limit, 4);
    heap.poke(heap.threads[thread].address + 0x480, note, heap.p);
  }

  HeapBuilder heap;
  SegmentWriter &old;
  Address type = 0;
  std::vector<Address> tills, sync_blocks;
};

TEST(Locks, WhoHoldsAndWaits) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Locked locked(shape);
    locked.hold(0, 0, 2, 1);
    locked.wait(1, 0, 0);
    locked.heap.poke(locked.tills[2] - 4, 0x20002, 4); // thread 2, three times
    report::Answer answer = answer_of(locked.heap, "locks");
    const std::string first = std::to_string(locked.heap.threads[0].os_id),
                      second = std::to_string(locked.heap.threads[1].os_id);
    std::vector<TextRow> rows = text_rows_of(answer, "locks");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["object"], hex(locked.tills[0]));
    EXPECT_EQ(rows[0]["kind"], "monitor");
    EXPECT_EQ(rows[0]["owner_os_id"], first);
    EXPECT_EQ(rows[0]["recursion"], "2");
    EXPECT_EQ(rows[0]["waiters"], "1");
    EXPECT_EQ(rows[0]["waiting"], second);
    EXPECT_EQ(rows[1]["kind"], "thin_lock");
    EXPECT_EQ(rows[1]["owner_os_id"], second);
    EXPECT_EQ(rows[1]["recursion"], "3");
    std::vector<TextRow> waits = text_rows_of(answer, "waits");
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0]["os_id"], second);
    EXPECT_EQ(waits[0]["kind"], "lock");
    EXPECT_EQ(waits[0]["owner_os_id"], first);
    EXPECT_TRUE(text_rows_of(answer, "deadlocks").empty());
    EXPECT_EQ(headline_text(answer).find("DEADLOCK"), std::string::npos);
  }
}

TEST(Locks, OfManyThatWaitTheTextNamesSome) {
  for (u64 more : {7, 8, 30}) {
    Locked locked({}, more);
    locked.hold(0, 0, 1, static_cast<u32>(more + 1));
    for (u64 i = 1; i < more + 2; ++i)
      locked.wait(i, 0, 0);
    report::Answer answer = answer_of(locked.heap, "locks");
    std::vector<TextRow> rows = text_rows_of(answer, "locks");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["waiters"], std::to_string(more + 1));
    std::string text = "4002";
    for (u64 i = 0; i < std::min<u64>(more, 7); ++i)
      text += fmt::format(", {}", 5001 + i);
    if (more > 7)
      text += fmt::format(" and {} more", more - 7);
    EXPECT_EQ(rows[0]["waiting_text"], text);
    EXPECT_EQ(std::ranges::count(rows[0]["waiting"], ' ') + 1, static_cast<i64>(more + 1)) << rows[0]["waiting"];
  }
}

// What names the second thread, which is the finalizer's. Here .NET 11 has no g_dacTable to tell it by.
std::string finalizer(const HeapShape &shape) { return shape.net == Net::net11 ? "" : ".NET Finalizer, "; }

TEST(Locks, TwoThatWaitForEachOther) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Locked locked(shape);
    for (u64 i = 0; i < 2; ++i) {
      locked.hold(i, i, 1, 1);
      locked.wait(i, 1 - i, 0);
    }
    report::Answer answer = answer_of(locked.heap, "locks");
    std::vector<TextRow> rows = text_rows_of(answer, "deadlocks");
    ASSERT_EQ(rows.size(), 1u);
    auto thread = [&](u64 i) {
      return fmt::format("thread {} ({}managed {})", locked.heap.threads[i].os_id, i ? finalizer(shape) : "", i + 1);
    };
    EXPECT_NE(rows[0]["text"].find(thread(0) + " waits for Shop.Till " + hex(locked.tills[1]) + ", which " + thread(1) +
                                   " holds"),
              std::string::npos)
        << rows[0]["text"];
    EXPECT_NE(headline_text(answer).find("1 DEADLOCK"), std::string::npos) << headline_text(answer);
  }
}

// As of Monitor.TryEnter(till, 5000).
TEST(Locks, AWaitWithALimitIsNoCertainDeadlock) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Locked locked(shape);
    for (u64 i = 0; i < 2; ++i) {
      locked.hold(i, i, 1, 1);
      locked.wait(i, 1 - i, 0, i ? 5000 : 0xffffffff);
    }
    report::Answer answer = answer_of(locked.heap, "locks");
    std::vector<TextRow> rows = text_rows_of(answer, "deadlocks");
    ASSERT_EQ(rows.size(), 1u);
    const std::string second = std::to_string(locked.heap.threads[1].os_id);
    EXPECT_EQ(rows[0]["text"].find("perhaps a deadlock: "), 0u) << rows[0]["text"];
    EXPECT_NE(
        rows[0]["text"].find(second + " (" + finalizer(shape) + "managed 2) waits for a limited time for Shop.Till"),
        std::string::npos)
        << rows[0]["text"];
    EXPECT_NE(rows[0]["text"].find("ends when its time is over"), std::string::npos) << rows[0]["text"];
    EXPECT_NE(headline_text(answer).find("1 POSSIBLE DEADLOCK"), std::string::npos) << headline_text(answer);
  }
}

// Who waits to be pulsed has given the lock back: that is no circle.
TEST(Locks, PulsesAreNoLocks) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Locked locked(shape);
    locked.hold(0, 0, 1, 0);
    locked.wait(1, 0, 1);
    report::Answer answer = answer_of(locked.heap, "locks");
    std::vector<TextRow> waits = text_rows_of(answer, "waits");
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0]["kind"], "pulse");
    EXPECT_TRUE(text_rows_of(answer, "deadlocks").empty());
  }
}

// What names its owner in two ways that differ names nobody.
TEST(Locks, AnOwnerThatIsNotProvedIsNone) {
  Locked locked({});
  locked.hold(0, 0, 1, 0);
  locked.heap.poke(locked.sync_blocks[0] + 8 + locked.heap.p, locked.heap.threads[1].os_id, locked.heap.p);
  report::Answer answer = answer_of(locked.heap, "locks");
  std::vector<TextRow> rows = text_rows_of(answer, "locks");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["held"], "true");
  EXPECT_EQ(rows[0]["owner_os_id"], "");
  EXPECT_NE(rows[0]["state"], "");
}

// Where a sync block begins with something else (with .NET 11's handle of a Lock, if nobody says where that is), there
// are no thousands of waiters, and who has the monitor is not known: `locks` and `threads` say so.
TEST(Locks, WhatCannotBeAMonitorIsSaid) {
  for (u64 word : {0x4e4f1230u, 0u}) { // a handle; none, and behind it what a thin lock was
    Locked locked({});
    locked.heap.poke(locked.sync_blocks[0], word, 4);
    locked.heap.poke(locked.sync_blocks[0] + 8, 2, 4);
    report::Answer answer = answer_of(locked.heap, "locks");
    EXPECT_TRUE(text_rows_of(answer, "locks").empty());
    EXPECT_FALSE(answer.completeness->complete());
    const std::vector<std::string> notes = answer.completeness->notes.sentences();
    EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string &note) {
      return note.find("SyncBlock.Lock may be missing") != note.npos;
    }));
    report::Answer threads = answer_of(locked.heap, "threads");
    const std::vector<TextRow> problems = text_rows_of(threads, "problems");
    ASSERT_FALSE(problems.empty());
    EXPECT_NE(problems[0].at("problem").find("SyncBlock.Lock may be missing"), std::string::npos);
  }
}

} // namespace
} // namespace dnheap::test
