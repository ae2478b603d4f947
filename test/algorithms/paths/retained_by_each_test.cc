// What goes with each of some sets, by one search, against a plain search for each.
#include "algorithms/paths/retained_by_each.h"
#include "algorithms/reach.h"
#include "support/plain_search.h"
#include "support/property.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

LargeArray<u8> column(const std::vector<u8> &values) {
  LargeArray<u8> out(values.size());
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

std::vector<Retained> by_each(const Graph &graph, const std::vector<u8> &set_of, u32 sets, unsigned threads) {
  return retained_by_each(graph.edges(), graph.sizes(), graph.owners(), column(set_of), sets, threads, {});
}

// The definition: what is reached, without what is reached around the set. What a precise root held is not held by
// chance instead.
Retained by_plain_search(const Graph &graph, const std::vector<u8> &set_of, u32 set) {
  std::vector<bool> nothing(graph.objects()), gone(graph.objects());
  for (u32 i = 0; i < graph.objects(); ++i)
    gone[i] = set_of[i] == 1 + set;
  const std::vector<u32> precise = roots_of(graph, true), chance = roots_of(graph, false);
  const std::vector<bool> held = reached(graph, precise, nothing);
  const Retained all = total(graph, either(held, reached(graph, chance, nothing)));
  const Retained left = total(graph, either(reached(graph, precise, gone), reached(graph, chance, either(gone, held))));
  return {all.objects - left.objects, all.bytes - left.bytes};
}

TEST(RetainedByEach, AsByPlainSearches) {
  u64 of_several = 0; // sets that others help to hold objects, and which hold some themselves
  for_all(3000, graphs(60, 300), [&](const GraphCase &c) {
    const Graph &graph = c.graph;
    GraphDice dice(c.seed);
    const u32 sets = 1 + static_cast<u32>(dice(most_sets_at_once));
    const u64 sparse = 1 + dice(12);
    std::vector<u8> set_of(graph.objects());
    for (u8 &set : set_of)
      set = dice(sparse) == 0 ? static_cast<u8>(1 + dice(sets)) : u8{0};
    const std::vector<Retained> found = by_each(graph, set_of, sets, static_cast<unsigned>(1 + c.seed % 3));
    ASSERT_EQ(found.size(), sets);
    for (u32 set = 0; set < sets; ++set) {
      ASSERT_EQ(found[set], by_plain_search(graph, set_of, set)) << "set " << set;
      of_several += found[set].objects > static_cast<u64>(std::count(set_of.begin(), set_of.end(), 1 + set));
    }
  });
  EXPECT_GT(of_several, 1000u);
}

TEST(RetainedByEach, NoSetAndNoObjects) {
  EXPECT_EQ(by_each(Graph(), {}, 2, 2), std::vector<Retained>(2));
  const Graph graph = heap_like_graph(1000);
  EXPECT_EQ(by_each(graph, std::vector<u8>(graph.objects()), 3, 2), std::vector<Retained>(3));
  EXPECT_TRUE(by_each(graph, std::vector<u8>(graph.objects()), 0, 2).empty());
}

// Each of these is reached only through objects of all sets, in any order, and so needs every one of them.
TEST(RetainedByEach, ChainsThroughAllSets) {
  Graph graph;
  std::vector<u8> set_of;
  graph.owner_count = graph.precise_owners = 1;
  graph.root(0, 0);
  for (u32 i = 0; i < 7; ++i) {
    graph.add(1u << i, i < 6 ? std::vector<u32>{i + 1} : std::vector<u32>{});
    set_of.push_back(i >= 1 && i <= most_sets_at_once ? static_cast<u8>(i) : u8{0});
  }
  EXPECT_EQ(by_each(graph, set_of, most_sets_at_once, 1),
            (std::vector<Retained>{{6, 126}, {5, 124}, {4, 120}, {3, 112}, {2, 96}}));
}

// Levels that are shared by threads.
TEST(RetainedByEach, LargeGraphsByAnyNumberOfThreads) {
  for (const Graph &graph : {heap_like_graph(300'000), node_array_graph(200'000), recursive_tree_graph(200'000)})
    for (u64 sparse : {1, 3, 1000}) {
      GraphDice dice(sparse);
      std::vector<u8> set_of(graph.objects());
      for (u8 &set : set_of)
        set = dice(sparse) == 0 ? static_cast<u8>(1 + dice(most_sets_at_once)) : u8{0};
      std::vector<Retained> expected;
      for (u32 set = 0; set < most_sets_at_once; ++set)
        expected.push_back(by_plain_search(graph, set_of, set));
      for (unsigned threads : {1, 2, 3, 16})
        ASSERT_EQ(by_each(graph, set_of, most_sets_at_once, threads), expected) << threads << " threads";
    }
}

} // namespace
} // namespace dnheap::test
