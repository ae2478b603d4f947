// What objects lead to, and what goes with a set of them, against plain searches.
#include "algorithms/reach.h"
#include "algorithms/retained_by_group.h"
#include "support/plain_search.h"
#include "support/property.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// What an object leads to, itself included.
Retained closure(const Edges &edges, const ObjectSizes &sizes, ObjectId object, unsigned threads, const Watch &watch) {
  Reach reach(edges, threads, watch);
  reach.from({&object, 1});
  return reach.total(sizes);
}

TEST(Reach, ClosureAsBySearch) {
  for_all(1000, graphs(60), [](const GraphCase &c) {
    const Graph &graph = c.graph;
    for (u32 i = 0; i < graph.objects(); i += 7)
      ASSERT_EQ(closure(graph.edges(), graph.sizes(), ObjectId{i}, static_cast<unsigned>(1 + c.seed % 3), {}),
                total(graph, reached(graph, {i}, std::vector<bool>(graph.objects()))))
          << "object " << i;
  });
}

TEST(Reach, ClosureOfMuchWorkIsSharedByThreads) {
  for (const Graph &graph : {heap_like_graph(400'000), node_array_graph(300'000)}) {
    u32 start = graph.objects() - 1;
    Retained expected = total(graph, reached(graph, {start}, std::vector<bool>(graph.objects())));
    EXPECT_EQ(closure(graph.edges(), graph.sizes(), ObjectId{start}, 3, {}), expected);
    EXPECT_EQ(closure(graph.edges(), graph.sizes(), ObjectId{start}, 1, {}), expected);
  }
}

TEST(Reach, MarksWhereItStopsAndGoesNoFurther) {
  for_all(1000, graphs(60), [](const GraphCase &c) {
    const Graph &graph = c.graph;
    GraphDice dice(c.seed);
    std::vector<bool> is_stop(graph.objects());
    ObjectBits stops(graph.objects());
    std::vector<u32> starts;
    for (u32 i = 0; i < graph.objects(); ++i) {
      if (dice(5) == 0) {
        is_stop[i] = true;
        stops.set(i);
      }
      if (dice(8) == 0)
        starts.push_back(i);
    }
    std::vector<bool> expected = reached(graph, starts, is_stop);
    for (u32 i = 0; i < graph.objects(); ++i)
      if (expected[i] && !is_stop[i])
        for (ObjectId target : graph.edges().of(ObjectId{i}))
          expected[static_cast<u32>(target)] = true;
    for (u32 start : starts)
      expected[start] = true;
    Reach reach(graph.edges(), static_cast<unsigned>(1 + c.seed % 3), {});
    reach.stop_at(&stops);
    std::vector<ObjectId> from;
    for (u32 start : starts)
      from.push_back(ObjectId{start});
    reach.from(from);
    const ObjectBits met = reach.take_met();
    for (u32 i = 0; i < graph.objects(); ++i)
      ASSERT_EQ(met.test(i), expected[i]) << "object " << i;
  });
}

TEST(Reach, ALongList) {
  constexpr u32 links = 1'000'000;
  Graph graph;
  for (u32 i = 0; i < links; ++i)
    graph.add(2, {(i + 1) % links});
  EXPECT_EQ(closure(graph.edges(), graph.sizes(), ObjectId{links / 2}, 2, {}), (Retained{links, 2 * u64{links}}));
}

TEST(Reach, WhatGoesWithASet) {
  for_all(2000, graphs(60), [](const GraphCase &c) {
    const Graph &graph = c.graph;
    std::vector<bool> nothing(graph.objects()), set(graph.objects());
    GraphDice dice(c.seed);
    for (u32 i = 0; i < graph.objects(); ++i)
      set[i] = dice(5) == 0;
    std::vector<u32> precise = roots_of(graph, true), chance = roots_of(graph, false);
    std::vector<bool> held = reached(graph, precise, nothing);
    Retained all = total(graph, either(held, reached(graph, chance, nothing)));
    // What a precise root held is not held by chance instead.
    Retained left = total(graph, either(reached(graph, precise, set), reached(graph, chance, either(set, held))));
    RetainedBySets sets(graph.edges(), graph.sizes(), graph.owners(), static_cast<unsigned>(1 + c.seed % 2), {});
    ASSERT_EQ(sets.reached(), all);
    ASSERT_EQ(sets.of([&](ObjectId id) { return set[static_cast<u32>(id)]; }),
              (Retained{all.objects - left.objects, all.bytes - left.bytes}));
    ASSERT_EQ(sets.of([](ObjectId) { return true; }), all);
    ASSERT_EQ(sets.of([](ObjectId) { return false; }), Retained{});
  });
}

// The dominator tree, which is worked out in another way, says the same of each object.
TEST(Reach, OneObjectAsInTheDominatorTree) {
  u64 by_chance = 0;
  for_all(1000, graphs(40), [&](const GraphCase &c) {
    const Graph &graph = c.graph;
    DominatorTree tree(graph.edges(), graph.sizes(), graph.owners(), 1, {});
    RetainedBySets sets(graph.edges(), graph.sizes(), graph.owners(), 1, {});
    ASSERT_EQ(sets.reached(), tree.reached());
    std::vector<bool> held = reached(graph, roots_of(graph, true), std::vector<bool>(graph.objects()));
    for (u32 i = 0; i < graph.objects(); ++i) {
      std::optional<TreePlace> at = tree.place(ObjectId{i});
      by_chance += at && !held[i];
      ASSERT_EQ(sets.of([&](ObjectId id) { return id == ObjectId{i}; }), at ? tree.retained(*at) : Retained{})
          << "object " << i;
    }
  });
  EXPECT_GT(by_chance, 1000u);
}

TEST(RetainedByGroup, CountsInstancesBelowNoOther) {
  for_all(3000, graphs(40, 400), [](const GraphCase &c) {
    const Graph &graph = c.graph;
    DominatorTree tree(graph.edges(), graph.sizes(), graph.owners(), 1, {});
    constexpr u32 groups = 4;
    GraphDice dice(c.seed);
    std::vector<u32> group(graph.objects());
    for (u32 &g : group)
      g = static_cast<u32>(dice(groups + 1)); // some belong to none
    std::vector<GroupRetained> expected(groups);
    for (u32 i = 0; i < graph.objects(); ++i) {
      std::optional<TreePlace> at = tree.place(ObjectId{i});
      if (!at || group[i] == groups)
        continue;
      bool below = false;
      for (TreePlace up = tree.parent(*at); tree.object(up); up = tree.parent(up))
        below = below || group[static_cast<u32>(*tree.object(up))] == group[i];
      if (below)
        continue;
      ++expected[group[i]].top_level;
      expected[group[i]].retained.objects += tree.retained(*at).objects;
      expected[group[i]].retained.bytes += tree.retained(*at).bytes;
    }
    std::vector<GroupRetained> found = retained_by_group(tree, groups, static_cast<unsigned>(1 + c.seed % 7), {},
                                                         [&](ObjectId id) { return group[static_cast<u32>(id)]; });
    for (u32 g = 0; g < groups; ++g) {
      ASSERT_EQ(found[g].top_level, expected[g].top_level);
      ASSERT_EQ(found[g].retained, expected[g].retained);
    }
  });
}

} // namespace
} // namespace dnheap::test
