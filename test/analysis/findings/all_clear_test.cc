// What the report says where it found nothing.
#include "analysis/findings/all_clear.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Who = Activity::Who;

Activity doing(Who who, u64 count, std::string waits_for) {
  return {.who = who, .count = count, .waits_for = std::move(waits_for), .method = "Shop.Run", .calls = {}, .at = {}};
}

TEST(AllClear, AHangBeginsWhereALockIsAwaited) {
  EXPECT_EQ(where_to_begin({}), "");
  Activities all;
  all.list = {doing(Who::calls, 40, "HTTP"), doing(Who::threads, 5, "sleep"), doing(Who::threads, 2, "a semaphore")};
  EXPECT_EQ(where_to_begin(all),
            "2 threads wait for a semaphore in Shop.Run; if the program hangs, begin there. Look at where it is "
            "released: an exception skips that, unless it is in a finally.");
  all.list.push_back(doing(Who::threads, 1, "an event"));
  all.list[2].waits_for = "a semaphore (static Shop.timer, 0 of 2 free)"; // a field's name is no kind of wait
  EXPECT_TRUE(where_to_begin(all).starts_with("2 threads wait for a semaphore (static Shop.timer, 0 of 2 free) in "));
  all.list[2].waits_for = "an event";
  all.list[3].waits_for = "a semaphore (static Shop.clock)";
  EXPECT_TRUE(where_to_begin(all).starts_with("2 threads wait for an event in "));
  all.list.push_back(doing(Who::threads, 1, "a lock"));
  EXPECT_EQ(where_to_begin(all), "1 thread waits for a lock in Shop.Run; if the program hangs, begin there.");
}

TEST(AllClear, WhoWaitsForTimeToPassIsNoReason) {
  Activities all;
  all.list = {doing(Who::calls, 1, "a delay"), doing(Who::calls, 3000, "a timer"), doing(Who::calls, 1, "a socket"),
              doing(Who::calls, 1, "a channel"), doing(Who::threads, 1, "a task")};
  all.list.back().calls = "Microsoft.Extensions.Hosting.HostingAbstractionsHostExtensions.Run";
  EXPECT_EQ(where_to_begin(all), "");
}

// Services keep their main thread by it.
TEST(AllClear, WhoWaitsForTheConsoleIsBehindCalls) {
  Activities all;
  all.list = {doing(Who::threads, 1, "the console")};
  EXPECT_EQ(where_to_begin(all), "1 thread waits for the console in Shop.Run; if the program hangs, begin there.");
  all.list.push_back(doing(Who::calls, 51, "a semaphore"));
  EXPECT_TRUE(where_to_begin(all).starts_with("51 calls of Shop.Run wait for a semaphore;")) << where_to_begin(all);
}

// The next question is about the group that the sentence names.
TEST(AllClear, TheVerbShowsWhereToBegin) {
  EXPECT_STREQ(verb_to_begin({}), "");
  Activities all;
  all.list = {doing(Who::threads, 1, "a task")};
  EXPECT_STREQ(verb_to_begin(all), "threads");
  all.list.push_back(doing(Who::calls, 1, "a delay")); // behind the task
  EXPECT_STREQ(verb_to_begin(all), "async");
  all.list = {doing(Who::threads, 9, "sleep"), doing(Who::calls, 1, "a TaskCompletionSource")};
  EXPECT_STREQ(verb_to_begin(all), "async");
  all.list.push_back(doing(Who::threads, 1, "a lock"));
  EXPECT_STREQ(verb_to_begin(all), "threads");
}

// Who waits for a thread or for a task is not the reason if what they wait for is known.
TEST(AllClear, WhoWaitsForOthersIsBehindThem) {
  Activities all;
  all.list = {doing(Who::threads, 1, "the end of a thread"), doing(Who::threads, 1, "a task")};
  EXPECT_EQ(where_to_begin(all), "1 thread waits for a task in Shop.Run; if the program hangs, begin there.");
  all.list.push_back(doing(Who::calls, 1, "a delay"));
  EXPECT_EQ(where_to_begin(all),
            "1 thread waits for a task in Shop.Run, and 1 call of Shop.Run waits for a delay; if the "
            "program hangs, begin there.");
  all.list.push_back(doing(Who::calls, 30, "HTTP"));
  EXPECT_EQ(where_to_begin(all), "30 calls of Shop.Run wait for HTTP; if the program hangs, begin there. Look at the "
                                 "server that is called; a shorter HttpClient.Timeout, or a CancellationToken, ends "
                                 "such calls.");
  all.list.push_back(doing(Who::threads, 3, ""));
  all.list.back().calls = "System.Collections.Generic.List<System.Int32>.RemoveAt";
  EXPECT_EQ(where_to_begin(all),
            "3 threads run in Shop.Run, which calls System.Collections.Generic.List<System.Int32>.RemoveAt; if the "
            "program hangs or is slow, begin there. It looks at, or moves, one entry after the other: a loop of such "
            "calls takes time with the square of their number, where a HashSet, a Dictionary or a Queue does not. One "
            "dump does not show for how long: dnheap sample of the process does.");
}

TEST(AllClear, ItNamesNothingThatIsWaitedForOrHoldsMuch) {
  Examination examined;
  examined.suspects.live_bytes = 100 << 20;
  EXPECT_EQ(all_clear(examined, {}, true),
            " Nothing stands out in locks, the thread pool, finalizers, requests, timers, events, connections, native "
            "memory, AssemblyLoadContexts, open handles or emitted assemblies either.");
  Suspect timers;
  timers.owner = "the runtime's timers", timers.retained = 60 << 20;
  examined.suspects.list = {timers};
  examined.facts.malloc_in_use = 100 << 20;
  examined.hangs.finalizer_objects = 1;
  examined.hangs.pool.queued = 1;
  Activities all;
  all.list = {doing(Who::threads, 2, "a lock"), doing(Who::calls, 9, "HTTP")};
  EXPECT_EQ(all_clear(examined, all, false),
            " Nothing stands out in requests, events, AssemblyLoadContexts, open handles "
            "or emitted assemblies.");
}

} // namespace
} // namespace dnheap::test
