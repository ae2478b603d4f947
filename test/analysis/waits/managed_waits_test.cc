// `locks` and `threads` where monitors are objects and threads say in objects what they wait for, as in .NET 11 on
// Unix; and what becomes of such objects when they are damaged. In every format.
#include "base/text.h"
#include "runtime/coreclr/threads/sync_block_1.h"
#include "support/known_stacks.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 exposed_at = 0x300; // in a Thread
constexpr u64 manual_reset = 0, auto_reset = 1, mutex = 3;

// Types as the class library has them, as far as they are looked at.
struct Waits : LibraryHeap {
  explicit Waits(const HeapShape &shape) : LibraryHeap(shape) {
    give_stacks(heap);
    heap.more_fields["SyncBlock"] = {{"Lock", 0}, {"ThinLock", static_cast<i64>(p)}};
    heap.more_fields["Thread"]["ExposedObject"] = static_cast<i64>(exposed_at);
    const char *threading = "System.Threading";
    safe_handle = type("Microsoft.Win32.SafeHandles", "SafeWaitHandle", 0, 4, {"#handle", "!_state"});
    handle = type(threading, "WaitHandle", 0, 3, {"_waitHandle"});
    event = type(threading, "AutoResetEvent", handle, 3, {}, 1);
    mutex_type = type(threading, "Mutex", handle, 3, {}, 1);
    lock = type(threading, "Lock", 0, 6, {"!_owningThreadId", "!_state", "!_recursionCount", "_waitEventOrCondition"});
    condition = type(threading, "Condition", 0, 5, {"_lock", "_waitEvent", "_waitersHead"});
    waiter = type(threading, "Waiter", 0, 4, {"next", "ev"});
    waitable = type(threading, "WaitableObject", 0, 7,
                    {"?_type", "!_signalCount", "!_maximumSignalCount", "_ownershipInfo", "_waitersHead"});
    ownership = type(threading, "OwnershipInfo", 0, 5, {"_thread", "!_reacquireCount", "?_isAbandoned"});
    wait_info = type(threading, "ThreadWaitInfo", 0, 7,
                     {"_thread", "?_waitSignalState", "?_isWaitForAll", "!_waitedCount", "_waitedObjects"});
    node_type = type(threading, "WaitedListNode", 0, 4, {"_waitInfo", "_next"});
    thread_type = type(threading, "Thread", 0, 4, {"_waitInfo", "_joinEvent"});
    till_type = type("Shop", "Till", 0, 3, {"_next"});
    for (u64 i = 0; i < 2; ++i) {
      threads.push_back(with(thread_type, {0, 0}));
      infos.push_back(with(wait_info, {threads[i], 2, 0, 0, 0}));
      old.store(threads[i] + p, infos[i], p);
      tills.push_back(with(till_type, {0}));
      heap.sync_block(tills[i]);
    }
  }

  // What the runtime's own memory has of it; nothing can be added then.
  void finish() {
    for (u64 i = 0; i < heap.threads.size(); ++i)
      thread_handles.push_back(word_of(threads[i]));
    heap.target();
    for (u64 i = 0; i < heap.threads.size(); ++i)
      heap.poke(heap.threads[i].address + exposed_at, thread_handles[i], p);
    Opened opened(heap);
    SyncBlock1 blocks(opened.runtime.memory(), opened.runtime.descriptor());
    for (u32 i = 0; i < 2; ++i)
      heap.poke(blocks.entry(i + 1)->sync_block, lock_handles[i], p),
          sync_blocks.push_back(blocks.entry(i + 1)->sync_block);
  }

  // A GC handle, as who has but its address sees it.
  Address word_of(Address object) { return heap.native.words({object}); }
  Address handle_of(Address type, Address object) { return with(type, {with(safe_handle, {word_of(object)})}); }
  Address waitable_of(u64 kind, u64 signals = 0, Address owned_by = 0, u64 times = 0, bool abandoned = false) {
    return with(waitable, {kind, signals, 4,
                           kind == mutex ? with(ownership, {owned_by, times ? times - 1 : 0, u64{abandoned}}) : 0, 0});
  }
  // A Lock that is the Monitor of one of the tills; its event.
  Address monitor(u64 till, u64 owner, u64 recursion, u64 waiting) {
    const Address of_event = waitable_of(auto_reset);
    locks.push_back(with(lock, {owner, u64{owner != 0} | waiting << 7, recursion, handle_of(event, of_event)}));
    lock_handles[till] = word_of(locks.back());
    return of_event;
  }
  void wait(u64 thread, const std::vector<Address> &objects, bool for_all = false) {
    const Address info = infos[thread];
    old.store(info + 2 * p, 0, 1);
    old.store(info + 3 * p, for_all, 1);
    old.store(info + 4 * p, objects.size(), 4);
    old.store(info + 5 * p, array(objects, 1), p);
    for (Address object : objects)
      old.store(object + 5 * p, with(node_type, {info, 0}), p);
  }
  std::string id(u64 thread) const { return std::to_string(heap.threads[thread].os_id); }

  Address safe_handle, handle, event, mutex_type, lock, condition, waiter, waitable, ownership, wait_info, node_type,
      thread_type, till_type;
  std::vector<Address> threads, infos, tills, locks, thread_handles, sync_blocks;
  Address lock_handles[2] = {};
};

std::vector<HeapShape> shapes() {
  std::vector<HeapShape> out;
  for (const HeapShape &shape : type_layouts())
    if (shape.net == Net::net11)
      out.push_back(shape);
  return out;
}

TextRow row_of(std::vector<TextRow> rows, const char *key, const std::string &value) {
  for (TextRow &row : rows)
    if (row[key] == value)
      return row;
  return {};
}

TEST(ManagedWaits, AMonitorIsALock) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Waits w(shape);
    w.wait(1, {w.monitor(0, 1, 1, 1)});
    w.finish();
    w.heap.poke(w.sync_blocks[1] + w.p, 0x20002,
                4); // a thin lock until its object got a hash code: thread 2, three times
    report::Answer answer = answer_of(w.heap, "locks");
    std::vector<TextRow> rows = text_rows_of(answer, "locks");
    ASSERT_EQ(rows.size(), 2u); // none for the Lock itself
    EXPECT_EQ(rows[0]["object"], hex(w.tills[0]));
    EXPECT_EQ(rows[0]["kind"], "monitor");
    EXPECT_EQ(rows[0]["owner_os_id"], w.id(0));
    EXPECT_EQ(rows[0]["recursion"], "2");
    EXPECT_EQ(rows[0]["waiters"], "1");
    EXPECT_EQ(rows[0]["waiting"], w.id(1));
    EXPECT_EQ(rows[1]["object"], hex(w.tills[1]));
    EXPECT_EQ(rows[1]["owner_os_id"], w.id(1));
    EXPECT_EQ(rows[1]["recursion"], "3");
    std::vector<TextRow> waits = text_rows_of(answer, "waits");
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0]["kind"], "lock");
    EXPECT_EQ(waits[0]["waits_for"], hex(w.tills[0]));
    EXPECT_EQ(waits[0]["owner_os_id"], w.id(0));
    report::Answer threads = answer_of(w.heap, "threads");
    TextRow row = row_of(text_rows_of(threads, "threads"), "os_id", w.id(1));
    EXPECT_EQ(row["waits_for"], "Monitor of Shop.Till " + hex(w.tills[0]) + " held by thread " + w.id(0));
    EXPECT_EQ(row["waits_for_object"], hex(w.tills[0]));
    EXPECT_EQ(row["owner_os_id"], w.id(0));
  }
}

TEST(ManagedWaits, TwoThatWaitForEachOther) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Waits w(shape);
    const Address of_mutex = w.waitable_of(mutex, 0, w.threads[1], 1);
    const Address object = w.handle_of(w.mutex_type, of_mutex);
    w.wait(0, {of_mutex});
    w.wait(1, {w.monitor(0, 1, 0, 1)});
    w.finish();
    report::Answer answer = answer_of(w.heap, "locks");
    TextRow row = row_of(text_rows_of(answer, "locks"), "kind", "mutex");
    EXPECT_EQ(row["object"], hex(object));
    EXPECT_EQ(row["owner_os_id"], w.id(1));
    EXPECT_EQ(row["recursion"], "1");
    EXPECT_EQ(row["waiting"], w.id(0));
    EXPECT_EQ(row["state"], "");
    std::vector<TextRow> rows = text_rows_of(answer, "deadlocks");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["grounds"], "runtime");
    EXPECT_NE(rows[0]["text"].find("waits for System.Threading.Mutex " + hex(object)), std::string::npos);
    EXPECT_NE(rows[0]["text"].find("waits for Shop.Till " + hex(w.tills[0])), std::string::npos);
    EXPECT_EQ(rows[0]["text"].find("operating system"), std::string::npos) << rows[0]["text"];
    EXPECT_NE(headline_text(answer).find("; 1 PROBABLE DEADLOCK"), std::string::npos)
        << headline_text(answer); // no stack shows a limit
  }
}

// Each waits for the end of the other: one by its Thread's event.
TEST(ManagedWaits, TheEndOfAThread) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Waits w(shape);
    const Address ended = w.waitable_of(manual_reset);
    w.old.store(w.threads[0] + 2 * w.p, w.handle_of(w.event, ended), w.p);
    w.wait(1, {ended});
    w.wait(0, {w.monitor(0, 2, 0, 1)});
    w.finish();
    report::Answer answer = answer_of(w.heap, "locks");
    TextRow row = row_of(text_rows_of(answer, "waits"), "os_id", w.id(1));
    EXPECT_EQ(row["kind"], "join");
    EXPECT_EQ(row["waits_for"], hex(w.threads[0]));
    std::vector<TextRow> rows = text_rows_of(answer, "deadlocks");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_NE(rows[0]["text"].find(" waits for the end of thread " + w.id(0)), std::string::npos) << rows[0]["text"];
    report::Answer threads = answer_of(w.heap, "threads");
    EXPECT_EQ(row_of(text_rows_of(threads, "threads"), "os_id", w.id(1))["waits_for"],
              "the end of System.Threading.Thread " + hex(w.threads[0]) + ", thread " + w.id(0));
  }
}

TEST(ManagedWaits, SeveralAtOnce) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Waits w(shape);
    const Address one = w.waitable_of(auto_reset), other = w.waitable_of(mutex, 0, w.threads[1], 2);
    const Address first = w.handle_of(w.event, one), second = w.handle_of(w.mutex_type, other);
    w.wait(0, {one, other});
    w.finish();
    report::Answer threads = answer_of(w.heap, "threads");
    TextRow row = row_of(text_rows_of(threads, "threads"), "os_id", w.id(0));
    EXPECT_EQ(row["waits_for"], "any of 2: System.Threading.AutoResetEvent " + hex(first) +
                                    ", System.Threading.Mutex " + hex(second) + " held by thread " + w.id(1));
    EXPECT_EQ(row["waits_for_objects"], hex(first) + " " + hex(second));
    EXPECT_EQ(row["waits_for_object"], "");
    report::Answer answer = answer_of(w.heap, "locks");
    EXPECT_EQ(text_rows_of(answer, "waits").size(), 2u);
    EXPECT_EQ(row_of(text_rows_of(answer, "locks"), "kind", "mutex")["recursion"], "2");
  }
}

// The GC handle of one that was closed is given to another.
TEST(ManagedWaits, AClosedHandleIsNone) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Waits w(shape);
    const Address own = w.waitable_of(auto_reset), word = w.word_of(own);
    w.with(w.event, {w.with(w.safe_handle, {word, 3})});
    const Address handle = w.with(w.event, {w.with(w.safe_handle, {word, 4})});
    w.wait(1, {own});
    w.finish();
    report::Answer threads = answer_of(w.heap, "threads");
    EXPECT_EQ(row_of(text_rows_of(threads, "threads"), "os_id", w.id(1))["waits_for_object"], hex(handle));
    report::Answer answer = answer_of(w.heap, "locks");
    EXPECT_EQ(row_of(text_rows_of(answer, "waits"), "os_id", w.id(1))["waits_for"], hex(handle));
  }
}

TEST(ManagedWaits, AnAbandonedMutexIsSaid) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Waits w(shape);
    w.handle_of(w.mutex_type, w.waitable_of(mutex, 1, 0, 0, true));
    w.handle_of(w.mutex_type, w.waitable_of(mutex, 1));
    w.finish();
    report::Answer answer = answer_of(w.heap, "locks");
    std::vector<TextRow> rows = text_rows_of(answer, "locks");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["kind"], "mutex");
    EXPECT_EQ(rows[0]["held"], "false");
    EXPECT_EQ(rows[0]["state"].find("abandoned"), 0u) << rows[0]["state"];
  }
}

TEST(ManagedWaits, AThreadThatWaitsToBeTold) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Waits w(shape);
    w.monitor(0, 0, 0, 0);
    const Address own = w.waitable_of(auto_reset);
    const Address waiter = w.with(w.waiter, {0, w.handle_of(w.event, own)});
    w.old.store(waiter + w.p, waiter, w.p); // a circle
    w.old.store(w.locks[0] + 4 * w.p, w.with(w.condition, {w.locks[0], 0, waiter}), w.p);
    w.wait(1, {own});
    w.finish();
    report::Answer answer = answer_of(w.heap, "locks");
    TextRow row = row_of(text_rows_of(answer, "waits"), "os_id", w.id(1));
    EXPECT_EQ(row["kind"], "pulse");
    EXPECT_EQ(row["waits_for"], hex(w.tills[0]));
    report::Answer threads = answer_of(w.heap, "threads");
    EXPECT_EQ(row_of(text_rows_of(threads, "threads"), "os_id", w.id(1))["waits_for"],
              "a pulse of Shop.Till " + hex(w.tills[0]));
  }
}

// Nobody holds it, and nobody is said not to.
TEST(ManagedWaits, ALockThatCannotBeReadIsSaid) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Waits w(shape);
    w.lock_handles[0] = 0x10;
    w.lock_handles[1] = w.word_of(w.tills[0]);
    w.finish();
    report::Answer answer = answer_of(w.heap, "locks");
    std::vector<TextRow> rows = text_rows_of(answer, "locks");
    ASSERT_EQ(rows.size(), 2u);
    for (TextRow &row : rows) {
      EXPECT_EQ(row["kind"], "monitor");
      EXPECT_EQ(row["owner_os_id"], "");
      EXPECT_NE(row["state"].find("cannot be read"), std::string::npos) << row["state"];
    }
    EXPECT_NE(notes_of(answer).find("the holder of 2 monitors is unknown"), std::string::npos) << notes_of(answer);
    EXPECT_FALSE(answer.completeness->complete());
  }
}

// Lists in circles, counts that lie, objects of other types: nothing is told of those.
TEST(ManagedWaits, WhatIsDamagedIsPassedOver) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const u64 damage : {0, 1, 2, 3, 4}) {
      SCOPED_TRACE(damage);
      Waits w(shape);
      const Address own = w.waitable_of(auto_reset);
      const Address handle = w.handle_of(w.event, own);
      w.wait(1, {own});
      const Address node = w.with(w.node_type, {w.infos[1], 0});
      switch (damage) {
      case 0: // the list of waiters leads back
        w.old.store(node + 2 * w.p, node, w.p);
        w.old.store(own + 5 * w.p, node, w.p);
        break;
      case 1: w.old.store(w.infos[1] + 4 * w.p, 0xffffffff, 4); break; // more than there may be
      case 2: w.old.store(w.infos[1] + 5 * w.p, w.tills[0], w.p); break;
      case 3: w.old.store(w.infos[1] + 5 * w.p, w.array({w.tills[0]}), w.p); break;
      case 4: w.old.store(w.infos[1] + w.p, w.threads[0], w.p); break; // another thread's
      }
      w.finish();
      report::Answer threads = answer_of(w.heap, "threads");
      TextRow row = row_of(text_rows_of(threads, "threads"), "os_id", w.id(1));
      EXPECT_EQ(row["waits_for_object"], damage ? "" : hex(handle));
      report::Answer answer = answer_of(w.heap, "locks");
      EXPECT_EQ(text_rows_of(answer, "waits").size(), damage ? 0u : 1u);
    }
  }
}

} // namespace
} // namespace dnheap::test
