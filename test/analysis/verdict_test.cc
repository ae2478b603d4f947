// Each rule of the verdict, on figures that just are that case and on figures that just are not.
#include "analysis/verdict.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 mib = u64{1} << 20;

// A process of which nothing is wrong.
VerdictFacts healthy() {
  VerdictFacts f;
  f.process = 400 * mib, f.heap = 100 * mib, f.live = 60 * mib, f.dead = 20 * mib;
  f.free_inside = 10 * mib, f.gc_empty = 10 * mib, f.malloc_in_use = 30 * mib, f.malloc_free = 5 * mib;
  f.stacks = 40 * mib, f.threads = 40;
  f.suspect = 13 * mib, f.suspect_elements = 5000;
  f.suspect_way = "static Shop.Cache._items", f.suspect_text = "List<Order>: 5,000 × Shop.Order";
  return f;
}

void expect(const char *rule, void (*change)(VerdictFacts &)) {
  VerdictFacts f = healthy();
  change(f);
  const MemoryVerdict verdict = judge(f);
  EXPECT_EQ(verdict.rule, rule) << verdict.text;
  EXPECT_FALSE(verdict.text.empty());
}

TEST(Verdict, NothingIsWrong) {
  expect("nothing", [](VerdictFacts &) {});
  EXPECT_EQ(judge({}).rule, "nothing"); // a dump that holds nothing
}

TEST(Verdict, OneOwner) {
  expect("one_owner", [](VerdictFacts &f) { f.suspect = 18 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.suspect = 18 * mib - 1; }); // less than 30 %
  expect("nothing", [](VerdictFacts &f) { f.suspect = 18 * mib, f.suspect_elements = 99; });
  expect("nothing", [](VerdictFacts &f) { f.live = 20 * mib, f.suspect = 16 * mib - 1; }); // too little to matter
  VerdictFacts f = healthy();
  f.suspect = 30 * mib;
  EXPECT_EQ(judge(f).text,
            "50 % of what is alive hangs on static Shop.Cache._items: List<Order>: 5,000 × Shop.Order. If "
            "that only grows, it is the leak.");
}

TEST(Verdict, ManyOwners) {
  expect("many_owners", [](VerdictFacts &f) { f.live = 200 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.live = 200 * mib - 1; });
  expect("nothing", [](VerdictFacts &f) { f.live = 200 * mib, f.suspect = 40 * mib; });
}

TEST(Verdict, DeadObjects) {
  expect("dead_objects", [](VerdictFacts &f) { f.dead = 60 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.dead = 60 * mib - 1; });
  expect("nothing", [](VerdictFacts &f) { f.live = mib, f.suspect = 0, f.dead = 32 * mib - 1; });
}

TEST(Verdict, Finalizers) {
  expect("finalizers", [](VerdictFacts &f) { f.finalizers = 18 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.finalizers = 18 * mib - 1; });
}

TEST(Verdict, Fragmentation) {
  expect("fragmentation", [](VerdictFacts &f) { f.free_inside = 60 * mib, f.pinned = 7; });
  expect("nothing", [](VerdictFacts &f) { f.free_inside = 53 * mib; });
}

TEST(Verdict, EmptyMemory) {
  expect("gc_holds_empty_memory", [](VerdictFacts &f) { f.heap = 160 * mib, f.gc_empty = 80 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.heap = 160 * mib, f.gc_empty = 80 * mib - 1; });
}

TEST(Verdict, NativeMemory) {
  expect("native", [](VerdictFacts &f) { f.malloc_in_use = 160 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.malloc_in_use = 160 * mib - 1; });
  expect("nothing", [](VerdictFacts &f) { f.malloc_in_use = 160 * mib, f.heap = 160 * mib; });
  expect("malloc_keeps_freed_memory", [](VerdictFacts &f) { f.malloc_free = 160 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.malloc_free = 160 * mib - 1; });
}

TEST(Verdict, Threads) {
  expect("threads", [](VerdictFacts &f) { f.threads = 500, f.stacks = 120 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.threads = 499, f.stacks = 120 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.threads = 500, f.stacks = 120 * mib - 1; });
}

TEST(Verdict, WhatExplainsMostWins) {
  expect("native", [](VerdictFacts &f) { f.suspect = 40 * mib, f.malloc_in_use = 200 * mib; });
}

} // namespace
} // namespace dnheap::test
