// Pending calls in groups, by the program's method and what it waits for.
#include "analysis/threads/async_calls.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

AsyncStack stack_of(std::vector<std::string> methods, const char *awaits, u64 count) {
  AsyncStack out;
  for (std::string &method : methods)
    out.frames.push_back({.method = std::move(method), .state = 0});
  out.awaits.what = awaits;
  out.count = count;
  return out;
}

std::vector<CallGroup> groups_of(const std::vector<AsyncStack> &stacks) {
  return group_calls(stacks, FrameworkNames({}));
}

TEST(AsyncCalls, AGroupIsTheInnermostMethodOfTheProgramAndWhatItWaitsFor) {
  const std::vector<CallGroup> groups =
      groups_of({stack_of({"System.IO.Stream.ReadAsync", "Shop.Cart.Load", "Microsoft.AspNetCore.Run"}, "delay", 20),
                 stack_of({"Shop.Cart.Load"}, "delay", 3), stack_of({"Shop.Cart.Load"}, "semaphore", 2),
                 stack_of({"System.Net.Sockets.Socket.Accept"}, "socket", 7)}); // none of the program's
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].method, "Shop.Cart.Load");
  EXPECT_EQ(groups[0].waits_for, "delay");
  EXPECT_EQ(groups[0].count, 23u);
  EXPECT_EQ(groups[0].called, 20u);
  EXPECT_EQ(groups[1].waits_for, "semaphore");
  EXPECT_EQ(groups[1].called, 0u);
}

// The socket of HttpClient is that of another server; a web socket's, and its own client's, are not.
TEST(AsyncCalls, ASocketBehindHttpClientIsHttp) {
  auto waits_for = [](std::vector<std::string> methods) {
    return groups_of({stack_of(std::move(methods), "socket", 1)}).at(0).waits_for;
  };
  EXPECT_EQ(waits_for({"System.Net.Http.HttpConnection.InitialFillAsync", "Shop.Bank.Ask"}), "HTTP");
  EXPECT_EQ(waits_for({"System.Net.Sockets.NetworkStream.ReadAsync", "Shop.Bank.Ask"}), "socket");
  EXPECT_EQ(waits_for({"Shop.Bank.Ask", "System.Net.Http.HttpConnection.InitialFillAsync"}), "socket");
  EXPECT_EQ(waits_for({"System.Net.Http.HttpConnection.ReadAsync",
                       "System.Net.WebSockets.ManagedWebSocket.ReceiveAsync", "Shop.Feed.Listen"}),
            "socket");
}

TEST(AsyncCalls, WhatIsAwaitedIsPartOfASentence) {
  EXPECT_EQ(awaited_in_words("delay"), "a delay");
  EXPECT_EQ(awaited_in_words("HTTP"), "HTTP");
  EXPECT_EQ(awaited_in_words("its turn to run"), "its turn to run");
  EXPECT_EQ(awaited_in_words("task Shop.Cart.Pay, which runs"), "task Shop.Cart.Pay, which runs");
  EXPECT_EQ(awaited_in_words("task"), "a task");
  EXPECT_EQ(awaited_in_words("Shop.Cart.Pay, as others do"), "Shop.Cart.Pay, as others do");
  EXPECT_EQ(awaited_in_words("other"), "");
}

} // namespace
} // namespace dnheap::test
