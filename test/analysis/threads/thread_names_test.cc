// How sentences call a thread: a name that several threads have does not say which of them is meant.
#include "analysis/threads/thread_names.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(ThreadNames, ANameOfSeveralHasANumber) {
  ThreadNames names;
  names.add("Loader", "10");
  names.add("", "11");
  names.add(".NET TP Worker", "12");
  EXPECT_EQ(names.short_name(2), ".NET TP Worker");
  names.add(".NET TP Worker", "13");
  EXPECT_EQ(names.short_name(0), "Loader");
  EXPECT_EQ(names.short_name(1), "11");
  EXPECT_EQ(names.short_name(2), "12 (.NET TP Worker)");
  EXPECT_EQ(names.short_name(3), "13 (.NET TP Worker)");
  EXPECT_EQ(names.called(0), "Loader");
  EXPECT_EQ(names.called(1), "thread 11");
  EXPECT_EQ(names.called(2), "thread 12 (.NET TP Worker)");
}

TEST(ThreadNames, WhatAThreadDoesSaysMoreThanANameOfSeveral) {
  ThreadNames names;
  names.add("Loader", "10");
  names.add("Worker", "11");
  names.add("Worker", "12");
  EXPECT_EQ(names.with_method(0, "Shop.Load"), "Loader (Shop.Load)");
  EXPECT_EQ(names.with_method(1, "Shop.Load"), "11 (Shop.Load)");
  EXPECT_EQ(names.with_method(2, ""), "12 (Worker)");
}

TEST(ThreadNames, ASentenceBeginsWithACapitalLetterOrAName) {
  EXPECT_EQ(as_sentence("thread 10 waits for a lock"), "Thread 10 waits for a lock");
  EXPECT_EQ(as_sentence("a lambda in Run of Shop.Jobs waits"), "A lambda in Run of Shop.Jobs waits");
  EXPECT_EQ(as_sentence("threader waits for a lock"), "threader waits for a lock");
  EXPECT_EQ(as_sentence(""), "");
}

} // namespace
} // namespace dnheap::test
