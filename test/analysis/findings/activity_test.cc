// What the program does: sentences, their order, and how many there are.
#include "analysis/findings/activity.h"
#include "support/heap_builder.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Who = Activity::Who;

std::string words_of(const Activity &one) { return one.figures() + " " + one.text(); }

TEST(Activity, WhatReadsTheSameIsOneLine) {
  Activities all;
  Activity one = {.who = Who::threads,
                  .count = 1,
                  .waits_for = {},
                  .method = "Shop.Import.Parse",
                  .calls = "System.Runtime.EH.DispatchEx",
                  .at = {}};
  all.add(one);
  one.calls = "System.Runtime.EH.FindFirstPassHandler", one.count = 2;
  all.add(one);
  one.calls = "System.Number.ParseInt32", one.count = 1;
  all.add(one);
  ASSERT_EQ(all.list.size(), 2u);
  EXPECT_EQ(words_of(all.list[0]), "3 threads run in Shop.Import.Parse, where an exception is thrown");
  EXPECT_EQ(all.list[1].count, 1u);
}

TEST(Activity, ASentence) {
  Activity one = {.who = Who::threads,
                  .count = 20,
                  .waits_for = "data of a socket",
                  .method = "Shop.Client.Read",
                  .calls = {},
                  .at = {}};
  EXPECT_EQ(words_of(one), "20 threads wait for data of a socket in Shop.Client.Read");
  one.at = {"/shop/Client.cs", 21}, one.calls = "System.Net.Sockets.NetworkStream.Read", one.count = 1;
  EXPECT_EQ(words_of(one), "1 thread waits for data of a socket in Shop.Client.Read (Client.cs:21), which calls "
                           "System.Net.Sockets.NetworkStream.Read");
  one.waits_for = "sleep", one.calls.clear();
  EXPECT_EQ(words_of(one), "1 thread sleeps in Shop.Client.Read (Client.cs:21)");
  one.waits_for.clear(), one.calls = "System.Runtime.EH.DispatchEx";
  EXPECT_EQ(words_of(one), "1 thread runs in Shop.Client.Read (Client.cs:21), where an exception is thrown");
  one.calls = "libimaging.so!img_lock", one.is_in_native = true, one.count = 3;
  EXPECT_EQ(words_of(one), "3 threads are in libimaging.so!img_lock, called by Shop.Client.Read (Client.cs:21)");
  one = {.who = Who::calls, .count = 500, .waits_for = "a delay", .method = "Shop.Cart.Pay", .calls = {}, .at = {}};
  EXPECT_EQ(words_of(one), "500 calls of Shop.Cart.Pay wait for a delay");
  one.count = 1, one.waits_for.clear();
  EXPECT_EQ(words_of(one), "1 call of Shop.Cart.Pay waits");
  EXPECT_EQ(words_of({.who = Who::requests, .count = 80, .waits_for = {}, .method = {}, .calls = {}, .at = {}}),
            "80 requests are in flight (ASP.NET Core)");
  one = {.who = Who::failures,
         .count = 2,
         .waits_for = {},
         .method = "Shop.Mailer.SendAsync",
         .calls = "System.IO.IOException",
         .at = {}};
  EXPECT_EQ(words_of(one),
            "2 calls failed with System.IO.IOException in Shop.Mailer.SendAsync, and nobody looked at the "
            "exception");
  one.count = 1, one.method.clear();
  EXPECT_EQ(words_of(one), "1 call failed with System.IO.IOException, and nobody looked at the exception");
}

TEST(Activity, TheLargestGroupsComeFirst) {
  Standing standing;
  for (u64 i = 1; i <= 4; ++i)
    standing.threads.push_back(
        {.waits_for = "a task", .method = "Shop.M" + std::to_string(i), .calls = {}, .count = i, .threads = {}});
  std::vector<AsyncStack> stacks;
  for (const char *method : {"Shop.Cart.Pay", "Shop.Program.Main", "System.Net.Sockets.Socket.Accept"}) {
    AsyncStack stack;
    stack.frames.push_back({.method = method, .state = {}});
    stack.awaits.what = "delay";
    stack.count = 3;
    stacks.push_back(stack);
  }
  HeapBuilder heap({});
  Snapshot snapshot(heap.target(), {});
  standing.calls = group_calls(stacks, FrameworkNames(snapshot.assemblies()));
  SourceLines lines(snapshot);
  const Activities found = find_activities(snapshot, standing, lines, 3);
  ASSERT_EQ(found.list.size(), 3u);
  EXPECT_EQ(words_of(found.list[0]), "4 threads wait for a task in Shop.M4");
  EXPECT_EQ(words_of(found.list[1]), "3 threads wait for a task in Shop.M3");
  EXPECT_EQ(words_of(found.list[2]), "3 calls of Shop.Cart.Pay wait for a delay"); // Main waits for the program's end
  EXPECT_EQ(found.others, 2u);
}

} // namespace
} // namespace dnheap::test
