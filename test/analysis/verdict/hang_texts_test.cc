// The longer sentences about hangs: where workers stand, who waits behind whom, a console that takes nothing.
#include "analysis/verdict/verdict.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

HangVerdict first_of(const HangFacts &facts) {
  std::vector<HangVerdict> all = judge_hangs(facts);
  return all.empty() ? HangVerdict{} : all.front();
}

TEST(HangTexts, WhereTheWorkersOfAStarvedPoolStand) {
  HangFacts f;
  f.pool = {.workers = 8, .blocked = 8, .waits = {{"a lock", 1}, {"a task", 7}}, .queued = 40};
  f.pool_place = "7 wait for a task in Shop.Orders.Get (Orders.cs:4), by Task.Result";
  f.pool_tasks = "5 of the tasks are calls of Shop.Orders.Load (Orders.cs:12)";
  f.pool_work = "40 of the items run a lambda in Run of Shop.Import";
  EXPECT_EQ(
      first_of(f).text,
      "The thread pool starves: 40 work items wait for a worker, and of 8 workers 8 are blocked: 7 for a task, 1 "
      "for a lock. 7 wait for a task in Shop.Orders.Get (Orders.cs:4), by Task.Result. 5 of the tasks are calls of "
      "Shop.Orders.Load (Orders.cs:12). 40 of the items run a lambda in Run of Shop.Import. Await the task instead: "
      "a worker that waits runs none of the items, and one of these may be what completes the task.");
  f.pool.waits = {{"a task", 8}}, f.pool_place = "8 wait for a task in Shop.Orders.Get", f.pool_tasks.clear();
  EXPECT_TRUE(first_of(f).text.starts_with("The thread pool starves: 40 work items wait for a worker, and of 8 workers "
                                           "8 are blocked. 8 wait for a task in Shop.Orders.Get. 40 of the items"));
  f.pool.blocked = 0, f.pool.waits.clear(), f.pool.queued = 41;
  f.pool_place = "8 run in Shop.Thumbs.Hash", f.pool_tasks.clear(), f.pool_work.clear();
  EXPECT_EQ(
      first_of(f).text,
      "The thread pool has more work than workers: 41 work items wait for a worker, and all 8 are at work: 8 run in "
      "Shop.Thumbs.Hash. That is a hang only if no worker ever finishes its work.");
}

TEST(HangTexts, WorkersThatSleepWaitForNothing) {
  HangFacts f;
  f.pool = {.workers = 9, .blocked = 9, .waits = {{"a lock", 5}, {"sleep", 3}, {"a task", 1}}, .queued = 7};
  EXPECT_TRUE(first_of(f).text.find("9 are blocked: 5 for a lock, 3 sleep, 1 for a task.") != std::string::npos)
      << first_of(f).text;
  f.pool.waits["sleep"] = 1;
  EXPECT_TRUE(first_of(f).text.find(", 1 sleeps") != std::string::npos) << first_of(f).text;
}

// Fewer than a finding about the lock needs.
TEST(HangTexts, WhoHasTheLockOfAFewWorkers) {
  HangFacts f;
  f.pool = {.workers = 5, .blocked = 5, .waits = {{"a lock", 4}, {"a task", 1}}, .queued = 7};
  f.contenders = 4, f.contended_text = "System.Object", f.contended_by = "thread .NET TP Worker has";
  f.holder_place = "waits for a task (Shop.RenderAsync) in Shop.Render";
  EXPECT_TRUE(first_of(f).text.find("Thread .NET TP Worker has the lock (System.Object) for which 4 threads wait, and "
                                    "waits for a task (Shop.RenderAsync) in Shop.Render.") != std::string::npos)
      << first_of(f).text;
  f.contenders = 1;
  EXPECT_EQ(first_of(f).text.find(" has the lock"), std::string::npos);
}

TEST(HangTexts, ThreadsThatWaitOneBehindTheOther) {
  HangFacts f;
  f.chain_threads = 3;
  f.chain_text =
      "thread A waits for a lock in Shop.Sell; thread B has that lock, which waits for a lock in Shop.Price; "
      "thread C has that lock, and sleeps in Shop.Load";
  EXPECT_EQ(first_of(f).rule, "lock_chain");
  EXPECT_EQ(first_of(f).text,
            "3 threads wait one behind the other: " + f.chain_text + ". All go on only when the last one does.");
  EXPECT_EQ(first_of(f).sureness, Sureness::possible);
  f.contenders = 9, f.contended_text = "System.Object", f.contended_by = "thread B has";
  f.holder_place = "waits for a lock in Shop.Price";
  f.contended_behind = "thread C has that lock, and sleeps in Shop.Load";
  EXPECT_EQ(first_of(f).rule, "lock_contended"); // the chain is in its sentence
  EXPECT_EQ(
      first_of(f).text,
      "9 threads wait for a lock (System.Object) that thread B has, which waits for a lock in Shop.Price; thread C "
      "has that lock, and sleeps in Shop.Load. They go on when the last of these does. Keep what takes long out of the "
      "lock.");
  f.deadlocks = 1, f.contenders = 0;
  EXPECT_EQ(judge_hangs(f).size(), 1u);
}

TEST(HangTexts, ThingsThatNobodyCanGive) {
  HangFacts f;
  f.lost_waiters = 3, f.lost_thread = "Packer", f.lost_place = "waits for a pulse (Monitor.Wait) in Shop.Queue.Take";
  f.lost_type = "Object", f.lost = HangFacts::Lost::pulse, f.has_lost_followers = true;
  f.chain_threads = 2; // one of its threads, and who waits for it
  ASSERT_EQ(judge_hangs(f).size(), 1u);
  EXPECT_EQ(first_of(f).text,
            "3 threads wait for a pulse of one Object; thread Packer waits for a pulse (Monitor.Wait) in "
            "Shop.Queue.Take: only threads that wait behind these refer to the Object, so nobody can pulse it. A pulse "
            "that comes before the wait is lost: look at the state first, and wait only while it is not as it should "
            "be (while (…) Monitor.Wait(…)).");
  f.lost_type = "SemaphoreSlim", f.lost = HangFacts::Lost::semaphore, f.lost_place = "waits for a semaphore";
  EXPECT_EQ(first_of(f).text,
            "3 threads wait for one SemaphoreSlim; thread Packer waits for a semaphore: none is free, and only threads "
            "that wait behind these refer to the SemaphoreSlim, so nobody can release it. Perhaps a method that took "
            "it left without Release, as with an exception: release it in a finally.");
  f.lost_type = "BlockingCollection<Int32>", f.lost = HangFacts::Lost::place, f.has_lost_followers = false;
  f.lost_waiters = 1, f.lost_place = "waits for a free place in a BlockingCollection";
  EXPECT_TRUE(first_of(f).text.find("it is full, and nothing else in the process refers to the "
                                    "BlockingCollection<Int32>, so nobody can take from it.") != std::string::npos)
      << first_of(f).text;
}

TEST(HangTexts, AConsoleThatTakesNothing) {
  HangFacts f;
  f.console_waiters = 7, f.console_place = "waits for a pulse (Monitor.Wait) in Shop.Chat.Say";
  f.console_writer = "thread Logger";
  EXPECT_EQ(first_of(f).rule, "console_blocked");
  EXPECT_TRUE(first_of(f).text.starts_with(
      "7 threads wait until the console takes their output (one waits for a pulse (Monitor.Wait) in Shop.Chat.Say), "
      "which thread Logger writes: "));
}

TEST(HangTexts, ASemaphoreThatMayBeASignal) {
  HangFacts f;
  f.crowds = 1, f.crowd = 38, f.are_calls = true, f.crowd_text = "SemaphoreSlim (Shop.Uplink.window)";
  f.is_perhaps_signal = true;
  EXPECT_EQ(first_of(f).sureness, Sureness::possible);
  EXPECT_EQ(first_of(f).text,
            "38 calls wait for a SemaphoreSlim (Shop.Uplink.window), of which none is free. Its holder is "
            "unknown: perhaps it was not released, or it is a signal that nobody has given.");
}

} // namespace
} // namespace dnheap::test
