// Shortest paths against Bellman and Ford's relaxation, on random graphs; the same paths by any number of threads.
#include "algorithms/paths/shortest_paths.h"
#include "support/property.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u32 never = ~u32{0};

// Steps from the roots of owners [begin, end) to each object.
std::vector<u32> distances(const Graph &graph, u32 begin, u32 end) {
  std::vector<u32> out(graph.objects(), never);
  for (const OwnedRoot &root : graph.roots)
    if (static_cast<u32>(root.owner) >= begin && static_cast<u32>(root.owner) < end)
      out[static_cast<u32>(root.object)] = 0;
  const Edges edges = graph.edges();
  for (bool again = true; again;) {
    again = false;
    for (u32 i = 0; i < graph.objects(); ++i)
      for (ObjectId target : edges.of(ObjectId{i}))
        if (out[i] != never && out[i] + 1 < out[static_cast<u32>(target)]) {
          out[static_cast<u32>(target)] = out[i] + 1;
          again = true;
        }
  }
  return out;
}

bool refers(const Graph &graph, ObjectId from, ObjectId to) {
  auto targets = graph.edges().of(from);
  return std::find(targets.begin(), targets.end(), to) != targets.end();
}

void expect_path(const Graph &graph, const std::vector<ObjectId> &path, OwnerId owner, ObjectId to) {
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(path.back(), to);
  EXPECT_TRUE(std::any_of(graph.roots.begin(), graph.roots.end(),
                          [&](const OwnedRoot &root) { return root.object == path[0] && root.owner == owner; }));
  for (u64 i = 1; i < path.size(); ++i)
    EXPECT_TRUE(refers(graph, path[i - 1], path[i]));
}

TEST(ShortestPaths, AsShortAsCanBePreciseOnesFirst) {
  for_all(3000, graphs(60), [](const GraphCase &c) {
    const Graph &graph = c.graph;
    std::vector<u32> precise = distances(graph, 0, graph.precise_owners);
    std::vector<u32> conservative = distances(graph, graph.precise_owners, graph.owner_count);
    ShortestPaths all(graph.edges(), 1, {});
    all.grow(graph.owners());
    for (u32 i = 0; i < graph.objects(); ++i) {
      ShortestPaths one(graph.edges(), 1, {});
      one.grow(graph.owners(), ObjectId{i});
      u32 expected = precise[i] != never ? precise[i] : conservative[i];
      std::vector<ObjectId> path = one.path(ObjectId{i});
      ASSERT_EQ(all.path(ObjectId{i}), path);
      ASSERT_EQ(one.met(ObjectId{i}), expected != never);
      if (expected == never)
        continue;
      ASSERT_EQ(path.size(), expected + 1);
      std::optional<OwnerId> owner = one.owner(path[0]);
      ASSERT_TRUE(owner);
      ASSERT_EQ(static_cast<u32>(*owner) < graph.precise_owners, precise[i] != never);
      expect_path(graph, path, *owner, ObjectId{i});
    }
  });
}

// What is left out is as if it were not there, and neither is what leads from one linked object to another.
TEST(ShortestPaths, WithoutSomeObjectsAndReferences) {
  for_all(2000, graphs(60), [](const GraphCase &c) {
    const Graph &graph = c.graph;
    auto is_left_out = [](u32 i) { return i % 7 == 3; };
    auto is_linked = [](u32 i) { return i % 3 == 1; };
    Graph rest;
    const Edges edges = graph.edges();
    for (u32 i = 0; i < graph.objects(); ++i) {
      std::vector<u32> targets;
      for (ObjectId target : edges.of(ObjectId{i}))
        if (const u32 to = static_cast<u32>(target);
            !is_left_out(i) && !is_left_out(to) && !(is_linked(i) && is_linked(to)))
          targets.push_back(to);
      rest.add(8, targets);
    }
    rest.owner_count = rest.precise_owners = graph.owner_count;
    for (const OwnedRoot &root : graph.roots)
      if (!is_left_out(static_cast<u32>(root.object)))
        rest.root(static_cast<u32>(root.owner), static_cast<u32>(root.object));
    std::vector<ObjectId> left_out;
    ObjectBits linked(graph.objects());
    for (u32 i = 0; i < graph.objects(); ++i) {
      if (is_left_out(i))
        left_out.push_back(ObjectId{i});
      if (is_linked(i))
        linked.set(ObjectId{i});
    }
    ShortestPaths expected(rest.edges(), 1, {}), found(graph.edges(), 1, {});
    expected.grow(rest.roots);
    found.leave_out(left_out);
    found.cut_between(&linked);
    found.grow(graph.roots);
    for (u32 i = 0; i < graph.objects(); ++i)
      ASSERT_EQ(found.path(ObjectId{i}), expected.path(ObjectId{i}));
  });
}

TEST(ShortestPaths, TheSameWithAnyNumberOfThreads) {
  for (const Graph &graph : {heap_like_graph(300'000), node_array_graph(200'000)}) {
    ShortestPaths one(graph.edges(), 1, {}), four(graph.edges(), 4, {});
    one.grow(graph.owners());
    four.grow(graph.owners());
    for (u32 i = 0; i < graph.objects(); ++i) {
      ASSERT_EQ(one.parent(ObjectId{i}), four.parent(ObjectId{i}));
      ASSERT_EQ(one.owner(ObjectId{i}), four.owner(ObjectId{i}));
    }
  }
}

// The ways that are kept beside a tree are those that are kept without: of the tree's own roots, of others that make
// its dominators no step of a way, and of ways that leave something out.
void expect_the_same(const Graph &graph, const DominatorTree &tree, unsigned threads) {
  const HeldDirectly direct(graph.edges(), tree, threads, {});
  std::vector<ObjectId> left_out;
  ObjectBits linked(graph.objects());
  for (u32 i = 0; i < graph.objects(); ++i) {
    if (i % 11 == 3)
      left_out.push_back(ObjectId{i});
    if (i % 4 == 1)
      linked.set(ObjectId{i});
  }
  for (const bool leaves_out : {false, true}) {
    ShortestPaths expected(graph.edges(), 1, {}), found(graph.edges(), threads, {}, &direct);
    for (ShortestPaths *search : {&expected, &found}) {
      if (leaves_out) {
        search->leave_out(left_out);
        search->cut_between(&linked);
      }
      search->grow(graph.owners());
    }
    for (u32 i = 0; i < graph.objects(); ++i) {
      ASSERT_EQ(found.met(ObjectId{i}), expected.met(ObjectId{i}));
      ASSERT_EQ(found.parent(ObjectId{i}), expected.parent(ObjectId{i}));
      ASSERT_EQ(found.owner(ObjectId{i}), expected.owner(ObjectId{i}));
    }
  }
}

TEST(ShortestPaths, BesideADominatorTree) {
  for_all(3000, graphs(60, 3000), [](const GraphCase &c) {
    const Graph &graph = c.graph;
    Owners some = graph.owners();
    some.roots = some.roots.first((some.roots.size() + 1) / 2);
    for (const Owners &owners : {graph.owners(), some})
      expect_the_same(graph, DominatorTree(graph.edges(), graph.sizes(), owners, 1, {}), 1 + c.seed % 4);
  });
}

// As many are met from others than their dominators as makes them be kept as without a tree.
TEST(ShortestPaths, BesideATreeOfOtherRoots) {
  for (const Graph &graph : {heap_like_graph(200'000), node_array_graph(200'000)})
    for (unsigned threads : {1u, 4u}) {
      Owners one = graph.owners();
      one.roots = one.roots.first(1);
      expect_the_same(graph, DominatorTree(graph.edges(), graph.sizes(), graph.owners(), threads, {}), threads);
      expect_the_same(graph, DominatorTree(graph.edges(), graph.sizes(), one, threads, {}), threads);
    }
  // A list that the tree's only root holds by its head, and other roots by each element.
  Graph list;
  list.owner_count = list.precise_owners = 2;
  for (u32 i = 0; i < 100'000; ++i)
    list.add(8, i + 1 < 100'000 ? std::vector<u32>{i + 1} : std::vector<u32>());
  list.root(0, 0);
  Owners head = list.owners();
  head.roots = head.roots.first(1);
  const DominatorTree tree(list.edges(), list.sizes(), head, 1, {});
  for (u32 i = 1; i < 100'000; ++i)
    list.root(1, i);
  for (unsigned threads : {1u, 4u})
    expect_the_same(list, tree, threads);
}

TEST(ShortestPaths, OfSeveralTheOneOverTheLeastNumbers) {
  Graph graph;
  graph.add(8, {3});
  graph.add(8, {3});
  graph.add(8, {1, 0});
  graph.add(8, {});
  graph.owner_count = graph.precise_owners = 3;
  graph.root(2, 2);
  graph.root(1, 2);
  ShortestPaths paths(graph.edges(), 1, {});
  paths.grow(graph.owners());
  EXPECT_EQ(paths.path(ObjectId{3}), (std::vector{ObjectId{2}, ObjectId{0}, ObjectId{3}}));
  EXPECT_EQ(paths.owner(ObjectId{2}), OwnerId{1});
  EXPECT_EQ(paths.owner(ObjectId{0}), std::nullopt);
  EXPECT_EQ(paths.parent(ObjectId{2}), std::nullopt);
}

TEST(ShortestPaths, ALongList) {
  constexpr u32 links = 1'000'000;
  Graph graph;
  for (u32 i = 0; i < links; ++i)
    graph.add(8, i + 1 < links ? std::vector<u32>{i + 1} : std::vector<u32>{});
  graph.owner_count = graph.precise_owners = 1;
  graph.root(0, 0);
  ShortestPaths paths(graph.edges(), 2, {});
  paths.grow(graph.owners(), ObjectId{links - 1});
  EXPECT_EQ(paths.path(ObjectId{links - 1}).size(), links);
}

TEST(ShortestPaths, StopsInTheLevelThatItLooksFor) {
  Graph graph;
  for (u32 i = 0; i < 10; ++i)
    graph.add(8, {(i + 1) % 10});
  graph.owner_count = graph.precise_owners = 1;
  graph.root(0, 0);
  ShortestPaths paths(graph.edges(), 1, {});
  paths.grow(graph.owners(), ObjectId{4});
  EXPECT_TRUE(paths.met(ObjectId{4}));
  EXPECT_FALSE(paths.met(ObjectId{6}));
}

TEST(ShortestPaths, OneFromEachOwner) {
  for_all(2000, graphs(60), [](const GraphCase &c) {
    const Graph &graph = c.graph, referrers = turned_round(graph);
    GraphDice dice(c.seed);
    ObjectId to{static_cast<u32>(dice(graph.objects()))};
    std::vector<OwnedPath> paths = paths_from_owners(referrers.edges(), graph.owners(), to, 100, 1, {});
    u64 count = 0, last = 0;
    for (u32 owner = 0; owner < graph.owner_count; ++owner) {
      u32 expected = distances(graph, owner, owner + 1)[static_cast<u32>(to)];
      auto path =
          std::find_if(paths.begin(), paths.end(), [&](const OwnedPath &p) { return p.owner == OwnerId{owner}; });
      ASSERT_EQ(path != paths.end(), expected != never);
      if (expected == never)
        continue;
      ++count;
      ASSERT_EQ(path->objects.size(), expected + 1);
      expect_path(graph, path->objects, path->owner, to);
    }
    ASSERT_EQ(paths.size(), count);
    for (const OwnedPath &path : paths) {
      ASSERT_GE(path.objects.size(), last);
      last = path.objects.size();
    }
    if (count > 1) {
      ASSERT_EQ(paths_from_owners(referrers.edges(), graph.owners(), to, 1, 1, {}).size(), 1u);
    }
  });
}

} // namespace
} // namespace dnheap::test
