#include "analysis/names/method_in_source.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

std::string in_source(const std::string &qualified) {
  return method_in_source({.name = qualified + "(Int32)", .qualified = qualified, .module = ""});
}

TEST(MethodInSource, WhatTheSourceHasNoNameFor) {
  EXPECT_EQ(in_source("Shop.Program+<>c.<Run>b__8_21"), "a lambda in Run of Shop.Program");
  EXPECT_EQ(in_source("Shop.Mailer+<Send>d__0.MoveNext"), "the async or iterator method Send of Shop.Mailer");
  EXPECT_EQ(in_source("Shop.Cart..cctor"), "the static constructor of Shop.Cart");
  EXPECT_EQ(in_source("Shop.Cart..ctor"), "Shop.Cart..ctor(Int32)");
  EXPECT_EQ(in_source("Shop.Cart.Pay"), "Shop.Cart.Pay(Int32)");
  EXPECT_EQ(in_source("..cctor"), "..cctor(Int32)");
}

// The arguments of .NET's generic methods do not say where the method is.
TEST(MethodInSource, MethodsOfDotNetKeepTheirNames) {
  const std::string start = "System.Runtime.CompilerServices.AsyncMethodBuilderCore.Start<Shop.Cart+<Pay>d__11>";
  EXPECT_EQ(in_source(start), start + "(Int32)");
}

} // namespace
} // namespace dnheap
