// What objects lead to, and what goes with a set of them, against plain searches.
#include "algorithms/reach.h"
#include "algorithms/retained_by_group.h"
#include "support/property.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// Objects that `starts` lead to without any for which `gone` is set.
std::vector<bool> reached(const Graph &graph, const std::vector<u32> &starts, const std::vector<bool> &gone) {
  std::vector<bool> met(graph.objects());
  std::vector<u32> work;
  const Edges edges = graph.edges();
  auto meet = [&](u32 v) {
    if (!met[v] && !gone[v]) {
      met[v] = true;
      work.push_back(v);
    }
  };
  for (u32 start : starts)
    meet(start);
  while (!work.empty()) {
    u32 v = work.back();
    work.pop_back();
    for (ObjectId target : edges.of(ObjectId{v}))
      meet(static_cast<u32>(target));
  }
  return met;
}

std::vector<u32> roots_of(const Graph &graph, bool precise) {
  std::vector<u32> out;
  for (const OwnedRoot &root : graph.roots)
    if ((static_cast<u32>(root.owner) < graph.precise_owners) == precise)
      out.push_back(static_cast<u32>(root.object));
  return out;
}

std::vector<bool> either(const std::vector<bool> &a, const std::vector<bool> &b) {
  std::vector<bool> out(a.size());
  std::transform(a.begin(), a.end(), b.begin(), out.begin(), std::logical_or());
  return out;
}

Retained total(const Graph &graph, const std::vector<bool> &bits) {
  Retained out;
  for (u32 i = 0; i < graph.objects(); ++i)
    if (bits[i]) {
      ++out.objects;
      out.bytes += graph.bytes[i];
    }
  return out;
}

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
