// Dominators and retained sizes against the definition (take a vertex away and see what is not reached any more) on
// random graphs, and on shapes that are hard for such algorithms: deep, wide, cyclic.
#include "algorithms/depth_first.h"
#include "algorithms/dominator_tree.h"
#include "support/property.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

DominatorTree tree_of(const Graph &graph, unsigned threads = 1) {
  return DominatorTree(graph.edges(), graph.sizes(), graph.owners(), threads, {});
}

// Straight from the definition. Vertices: objects, then owners.
class Twin {
public:
  explicit Twin(const Graph &graph) : graph_(graph), vertices_(graph.objects() + graph.owner_count) {
    precise_ = reached(vertices_, true);
    all_ = reached(vertices_, false);
    for (u32 v = 0; v < vertices_; ++v)
      precise_[v] = precise_[v] && (v < graph.objects() || v - graph.objects() < graph.precise_owners);
    for (u32 without = 0; without < vertices_; ++without) {
      // What precise owners reach is solved with them alone.
      std::vector<bool> left = reached(without, true), left_of_rest = reached(without, false);
      std::vector<bool> &lost = dominated_.emplace_back(vertices_);
      for (u32 v = 0; v < vertices_; ++v)
        lost[v] = precise_[v] ? !left[v] : all_[v] && !left_of_rest[v];
    }
  }
  u32 vertices() const { return vertices_; }
  bool is_reached(u32 v) const { return all_[v]; }
  bool dominates(u32 v, u32 w) const { return dominated_[v][w]; }
  Retained retained(u32 v) const {
    Retained out;
    for (u32 w = 0; w < graph_.objects(); ++w)
      if (dominates(v, w)) {
        ++out.objects;
        out.bytes += graph_.bytes[w];
      }
    return out;
  }

private:
  // From precise owners only, or from conservative ones into what precise ones do not reach.
  std::vector<bool> reached(u32 without, bool precise) const {
    std::vector<bool> met(vertices_);
    std::vector<u32> work;
    auto meet = [&](u32 v) {
      if (v != without && !met[v] && (precise || v >= graph_.objects() || !precise_[v])) {
        met[v] = true;
        work.push_back(v);
      }
    };
    for (u32 owner = precise ? 0 : graph_.precise_owners;
         owner < (precise ? graph_.precise_owners : graph_.owner_count); ++owner)
      meet(graph_.objects() + owner);
    while (!work.empty()) {
      u32 v = work.back();
      work.pop_back();
      if (v < graph_.objects()) {
        const Edges edges = graph_.edges();
        for (ObjectId target : edges.of(ObjectId{v}))
          meet(static_cast<u32>(target));
      } else {
        for (const OwnedRoot &root : graph_.roots)
          if (static_cast<u32>(root.owner) == v - graph_.objects())
            meet(static_cast<u32>(root.object));
      }
    }
    if (!precise && without == vertices_)
      for (u32 v = 0; v < vertices_; ++v)
        met[v] = met[v] || precise_[v];
    return met;
  }

  const Graph &graph_;
  u32 vertices_;
  std::vector<bool> precise_, all_;
  std::vector<std::vector<bool>> dominated_; // by whom, then whom
};

std::optional<TreePlace> place_of(const DominatorTree &tree, const Graph &graph, u32 v) {
  return v < graph.objects() ? tree.place(ObjectId{v}) : std::optional(tree.place(OwnerId(v - graph.objects())));
}

u32 vertex_at(const DominatorTree &tree, const Graph &graph, TreePlace at) {
  return tree.object(at) ? static_cast<u32>(*tree.object(at)) : graph.objects() + static_cast<u32>(*tree.owner(at));
}

// Whatever the graph: stretches nest, totals close.
void expect_sound(const DominatorTree &tree, const Graph &graph) {
  u64 bytes = 0, top_objects = 0, top_bytes = 0;
  for (u32 size : graph.bytes)
    bytes += size;
  EXPECT_EQ(tree.reached().objects + tree.unreachable().objects, graph.objects());
  EXPECT_EQ(tree.reached().bytes + tree.unreachable().bytes, bytes);
  for (u32 owner = 0; owner < graph.owner_count; ++owner) {
    EXPECT_EQ(tree.parent(tree.place(OwnerId{owner})), TreePlace{0});
    top_objects += tree.retained(tree.place(OwnerId{owner})).objects;
    top_bytes += tree.retained(tree.place(OwnerId{owner})).bytes;
  }
  EXPECT_EQ(top_objects + tree.shared().objects, tree.reached().objects);
  EXPECT_EQ(top_bytes + tree.shared().bytes, tree.reached().bytes);
  EXPECT_EQ(tree.parent(TreePlace{0}), TreePlace{0});
  for (u32 at = 1; at < tree.size(); ++at) {
    u32 parent = static_cast<u32>(tree.parent(TreePlace{at}));
    ASSERT_LT(parent, at);
    ASSERT_LE(static_cast<u32>(tree.end(TreePlace{at})), static_cast<u32>(tree.end(TreePlace{parent})));
    u32 v = vertex_at(tree, graph, TreePlace{at});
    ASSERT_EQ(place_of(tree, graph, v), TreePlace{at});
  }
}

void expect_as_defined(const DominatorTree &tree, const Graph &graph) {
  Twin twin(graph);
  expect_sound(tree, graph);
  for (u32 v = 0; v < twin.vertices(); ++v) {
    std::optional<TreePlace> at = place_of(tree, graph, v);
    ASSERT_EQ(at.has_value(), v >= graph.objects() || twin.is_reached(v)) << v;
    if (!at)
      continue;
    ASSERT_EQ(tree.retained(*at), twin.retained(v)) << v;
    ASSERT_EQ(tree.own_bytes(*at), v < graph.objects() ? graph.sizes().of(ObjectId{v}) : 0) << v;
    std::vector<bool> above(twin.vertices());
    for (TreePlace up = *at; up != TreePlace{0}; up = tree.parent(up))
      above[vertex_at(tree, graph, up)] = true;
    for (u32 w = 0; w < twin.vertices(); ++w)
      ASSERT_EQ(above[w], w == v || twin.dominates(w, v)) << w << " over " << v;
  }
}

TEST(DominatorTree, AsDefinedOnRandomGraphs) {
  for_all(6000, graphs(25, 90), [](const GraphCase &c) { expect_as_defined(tree_of(c.graph), c.graph); });
  // Few references: most objects have one referrer.
  for_all(6000, graphs(40, 55), [](const GraphCase &c) { expect_as_defined(tree_of(c.graph), c.graph); });
}

// The same graph, most of its roots gone, and an array behind it that refers to many objects, which others may refer
// to.
Graph with_array(const Graph &graph, u64 seed) {
  std::mt19937_64 random(seed);
  Graph out = graph;
  std::vector<u32> elements;
  for (u32 i = 0; i < graph.objects(); ++i)
    if (random() % 4)
      elements.push_back(i);
  if (elements.empty())
    return out;
  std::erase_if(out.roots, [&](const OwnedRoot &) { return random() % 4 != 0; });
  const u32 array = graph.objects();
  out.add(24, elements);
  if (random() % 2) // something leads back
    out.add(24, {array, elements.front()});
  if (graph.owner_count)
    out.root(static_cast<u32>(random() % graph.owner_count), array);
  return out;
}

TEST(DominatorTree, AsDefinedWhereAnArrayRefersToMost) {
  u64 found = 0;
  for_all(3000, graphs(25, 60), [&](const GraphCase &c) {
    const Graph graph = with_array(c.graph, c.seed);
    expect_as_defined(tree_of(graph), graph);
    const Owners owners = graph.owners();
    found +=
        DepthFirst(graph.edges(), owners, RootsByOwner(owners, graph.objects()), 1, {}).fanned_out.from != no_object;
  });
  EXPECT_GT(found, 500); // not in vain
}

TEST(DominatorTree, WhatAnArrayRefersToIsFannedOutUnlessReachedWithoutIt) {
  Graph graph;
  for (u32 i = 0; i < 10; ++i)
    graph.add(24, {(i + 1) % 10}); // each refers to the next one
  graph.add(100, {0, 1, 2, 3, 4, 5, 6, 7, 8, 10});
  graph.owner_count = graph.precise_owners = 2;
  graph.root(0, 10);
  auto fanned_out = [&]() -> FannedOut {
    const Owners owners = graph.owners();
    return DepthFirst(graph.edges(), owners, RootsByOwner(owners, graph.objects()), 1, {}).fanned_out;
  };
  ASSERT_EQ(fanned_out().from, ObjectId{10});
  for (u32 i = 0; i <= 10; ++i)
    EXPECT_EQ(fanned_out().objects.test(u64{i}), i < 9) << i;
  EXPECT_EQ(fanned_out().closed_count, 8); // 8 refers to 9
  EXPECT_FALSE(fanned_out().closed.test(ObjectId{8}));
  graph.root(1, 9); // leads to all of them
  EXPECT_EQ(fanned_out().from, no_object);
}

// Ranks, hubs and links, from the definition: rank by rank, on what those before did not reach.
void expect_ranked(const Graph &graph, std::vector<u32> ranks, const std::vector<OwnedRoot> &hubs,
                   const ObjectBits &links) {
  Owners owners = graph.owners();
  owners.ranks = ranks;
  owners.hubs = hubs;
  owners.links = &links;
  const DominatorTree tree(graph.edges(), graph.sizes(), owners, 1, {});
  expect_sound(tree, graph);
  ranks.push_back(graph.owner_count);
  const u32 objects = graph.objects();
  std::vector<bool> taken(objects);
  u32 first = 0;
  for (u32 last : ranks) {
    std::vector<bool> closed = taken; // what this rank does not enter
    for (const OwnedRoot &hub : hubs)
      if (static_cast<u32>(hub.owner) < first || static_cast<u32>(hub.owner) >= last)
        closed[static_cast<u32>(hub.object)] = true;
    const Edges edges = graph.edges();
    auto reach = [&](u32 without) { // vertices: objects, then owners
      std::vector<bool> met(objects + graph.owner_count);
      std::vector<u32> work;
      auto meet = [&](u32 v) {
        if (v != without && !met[v] && (v >= objects || !closed[v])) {
          met[v] = true;
          work.push_back(v);
        }
      };
      for (u32 owner = first; owner < last; ++owner)
        meet(objects + owner);
      while (!work.empty()) {
        const u32 v = work.back();
        work.pop_back();
        if (v < objects)
          for (ObjectId target : edges.of(ObjectId{v}))
            if (!links.test(ObjectId{v}) || !links.test(target))
              meet(static_cast<u32>(target));
        for (const std::span<const OwnedRoot> &roots : {std::span<const OwnedRoot>(graph.roots), std::span(hubs)})
          for (const auto &root : roots)
            if (static_cast<u32>(root.owner) + objects == v)
              meet(static_cast<u32>(root.object));
      }
      return met;
    };
    const std::vector<bool> met = reach(~u32{0});
    for (u32 v = 0; v < met.size(); ++v) {
      if (!met[v])
        continue;
      const std::vector<bool> left = reach(v);
      for (u32 w = 0; w < objects; ++w)
        if (met[w]) {
          bool is_above = false;
          for (TreePlace up = *tree.place(ObjectId{w}); up != TreePlace{0}; up = tree.parent(up))
            is_above = is_above || vertex_at(tree, graph, up) == v;
          ASSERT_EQ(is_above, w == v || !left[w]) << v << " over " << w;
        }
    }
    for (u32 w = 0; w < objects; ++w)
      taken[w] = taken[w] || met[w];
    first = last;
  }
  for (u32 w = 0; w < objects; ++w)
    ASSERT_EQ(tree.place(ObjectId{w}).has_value(), taken[w]) << w;
}

TEST(DominatorTree, RanksHubsAndLinksAsDefinedOnRandomGraphs) {
  for_all(3000, graphs(20, 60), [](const GraphCase &c) {
    std::mt19937_64 random(c.seed);
    Graph graph = random() % 2 ? c.graph : with_array(c.graph, c.seed);
    std::vector<u32> ranks;
    for (u32 owner = 1; owner < graph.owner_count; ++owner)
      if (random() % 3 == 0)
        ranks.push_back(owner);
    std::vector<OwnedRoot> hubs;
    for (u64 count = graph.objects() ? random() % 4 : 0; count--;) {
      const ObjectId object = ObjectId(static_cast<u32>(random() % graph.objects()));
      if (std::none_of(hubs.begin(), hubs.end(), [&](const OwnedRoot &hub) { return hub.object == object; })) {
        ranks.push_back(graph.owner_count);
        hubs.push_back({object, OwnerId{graph.owner_count++}});
      }
    }
    if (random() % 2) { // a rank behind the hubs
      ranks.push_back(graph.owner_count++);
      if (graph.objects())
        graph.roots.push_back({ObjectId(static_cast<u32>(random() % graph.objects())), OwnerId{graph.owner_count - 1}});
    }
    if (ranks.empty())
      ranks.push_back(graph.precise_owners);
    ObjectBits links(graph.objects());
    for (u32 i = 0; i < graph.objects(); ++i)
      if (random() % 4 == 0) {
        links.set(ObjectId{i});
        graph.roots.push_back({ObjectId{i}, OwnerId(static_cast<u32>(random() % graph.owner_count))});
      }
    expect_ranked(graph, ranks, hubs, links);
  });
}

TEST(DominatorTree, HubsThatDoNotExistAreNone) {
  Graph graph = heap_like_graph(100);
  const OwnedRoot wrong[] = {{ObjectId{5}, OwnerId{graph.owner_count}}, {ObjectId(graph.objects()), OwnerId{0}}};
  Owners owners = graph.owners();
  owners.hubs = wrong;
  const DominatorTree tree(graph.edges(), graph.sizes(), owners, 1, {});
  expect_sound(tree, graph);
  EXPECT_EQ(tree.reached(), tree_of(graph).reached());
}

TEST(DominatorTree, TheSameWithAnyNumberOfThreads) {
  std::vector<Graph> all = {heap_like_graph(150'000), recursive_tree_graph(100'000)}; // several buckets of cross edges
  all[0].precise_owners = 60;
  for (const Graph &graph : all) {
    const DominatorTree one = tree_of(graph);
    expect_sound(one, graph);
    for (unsigned threads : {2u, 3u, 16u}) {
      const DominatorTree other = tree_of(graph, threads);
      ASSERT_EQ(one.size(), other.size());
      for (u32 at = 0; at < one.size(); ++at) {
        ASSERT_EQ(one.object(TreePlace{at}), other.object(TreePlace{at}));
        ASSERT_EQ(one.parent(TreePlace{at}), other.parent(TreePlace{at}));
        ASSERT_EQ(one.retained(TreePlace{at}), other.retained(TreePlace{at}));
      }
    }
  }
}

TEST(DominatorTree, AsDefinedInARandomRecursiveTree) {
  for (u32 nodes : {1u, 2u, 9u, 60u, 200u}) {
    Graph graph = recursive_tree_graph(nodes);
    expect_as_defined(tree_of(graph, 2), graph);
    graph.roots.pop_back(); // the tree alone
    expect_as_defined(tree_of(graph, 3), graph);
  }
}

//   owner 0 -> 0 -> 1 -> 3      owner 1 (conservative) -> 4 -> 3
//              0 -> 2 -> 3                                4 -> 5
TEST(DominatorTree, ConservativeOwnersNeverCompete) {
  Graph graph;
  graph.add(1, {1, 2});
  graph.add(2, {3});
  graph.add(4, {3});
  graph.add(8, {});
  graph.add(16, {3, 5});
  graph.add(32, {});
  graph.owner_count = 2;
  graph.precise_owners = 1;
  graph.root(0, 0);
  graph.root(1, 4);
  graph.root(1, 1);
  DominatorTree tree = tree_of(graph);
  EXPECT_EQ(tree.retained(tree.place(OwnerId{0})), (Retained{4, 15}));
  EXPECT_EQ(tree.retained(tree.place(OwnerId{1})), (Retained{2, 48}));
  EXPECT_EQ(tree.shared(), (Retained{}));
  EXPECT_EQ(tree.parent(*tree.place(ObjectId{3})), *tree.place(ObjectId{0}));
  graph.precise_owners = 2; // now it does compete
  DominatorTree equal = tree_of(graph);
  EXPECT_EQ(equal.retained(equal.place(OwnerId{0})), (Retained{2, 5}));
  EXPECT_EQ(equal.shared(), (Retained{2, 10}));
  EXPECT_TRUE(equal.is_shared(*equal.place(ObjectId{3})));
}

TEST(DominatorTree, NothingAtAll) {
  Graph graph;
  DominatorTree none = tree_of(graph);
  EXPECT_EQ(none.size(), 1u);
  EXPECT_EQ(none.reached(), Retained{});
  graph.add(8, {0});
  graph.owner_count = 3;
  DominatorTree no_roots = tree_of(graph);
  EXPECT_EQ(no_roots.unreachable(), (Retained{1, 8}));
  EXPECT_EQ(no_roots.place(ObjectId{0}), std::nullopt);
  graph.root(3, 0); // no such owner
  graph.root(0, 1); // no such object
  EXPECT_EQ(tree_of(graph).unreachable(), (Retained{1, 8}));
}

TEST(DominatorTree, AnObjectOfMoreThanFourGibibytes) {
  Graph graph;
  graph.add(8, {1});
  graph.add(ObjectSizes::in_large, {});
  graph.owner_count = graph.precise_owners = 1;
  graph.root(0, 0);
  std::vector<ObjectSizes::Large> large{{ObjectId{1}, u64{5} << 30}};
  DominatorTree tree(graph.edges(), {graph.bytes, large}, graph.owners(), 1, {});
  EXPECT_EQ(tree.reached(), (Retained{2, 8 + (u64{5} << 30)}));
}

// A list, and an array of what its links hold: whoever looks for common ancestors step by step takes a link at a time.
TEST(DominatorTree, AListOfAMillionLinksAndAnArrayOfItsItems) {
  constexpr u32 links = 1'000'000;
  Graph graph;
  std::vector<u32> items{1};
  for (u32 i = 0; i < links; ++i)
    items.push_back(2 + links + i);
  graph.add(8, {1, 1 + links});
  for (u32 i = 0; i < links; ++i) // the next link first: the search is at the end of the list when it meets the items
    graph.add(24, i + 1 < links ? std::vector<u32>{2 + i, 2 + links + i} : std::vector<u32>{2 + links + i});
  graph.add(8, items);
  for (u32 i = 0; i < links; ++i)
    graph.add(16, {0});
  graph.owner_count = graph.precise_owners = 1;
  graph.root(0, 0);
  DominatorTree tree = tree_of(graph, 2);
  expect_sound(tree, graph);
  EXPECT_EQ(tree.retained(*tree.place(ObjectId{1})), (Retained{links, u64{links} * 24}));
  EXPECT_EQ(tree.retained(*tree.place(ObjectId{links})), (Retained{1, 24}));
  EXPECT_EQ(tree.parent(*tree.place(ObjectId{2 + links + 5})), *tree.place(ObjectId{0}));
}

TEST(DominatorTree, AListLinkedBothWays) {
  constexpr u32 links = 300'000;
  Graph graph;
  for (u32 i = 0; i < links; ++i)
    graph.add(16, i == 0          ? std::vector<u32>{1}
                  : i + 1 < links ? std::vector<u32>{i - 1, i + 1}
                                  : std::vector<u32>{i - 1});
  graph.owner_count = graph.precise_owners = 2;
  graph.root(0, 0);
  DominatorTree one_end = tree_of(graph);
  EXPECT_EQ(one_end.retained(*one_end.place(ObjectId{1000})), (Retained{links - 1000, 16 * u64{links - 1000}}));
  graph.root(1, links - 1);
  DominatorTree both_ends = tree_of(graph);
  expect_sound(both_ends, graph);
  EXPECT_EQ(both_ends.shared().objects, links);
}

TEST(DominatorTree, ManyReferrersOfOneObject) {
  constexpr u32 referrers = 400'000;
  Graph graph;
  std::vector<u32> all(referrers);
  for (u32 i = 0; i < referrers; ++i)
    all[i] = i + 2;
  graph.add(8, all);
  graph.add(8, {});
  for (u32 i = 0; i < referrers; ++i)
    graph.add(8, {1});
  graph.owner_count = graph.precise_owners = 1;
  graph.root(0, 0);
  DominatorTree tree = tree_of(graph, 2);
  expect_sound(tree, graph);
  EXPECT_EQ(tree.parent(*tree.place(ObjectId{1})), *tree.place(ObjectId{0}));
}

// Strings that only one object refers to are never numbered; here more of them than a byte counts.
TEST(DominatorTree, AnArrayOfManyStrings) {
  for (u32 strings : {254u, 255u, 256u, 100'000u}) {
    Graph graph;
    std::vector<u32> all(strings);
    for (u32 i = 0; i < strings; ++i)
      all[i] = i + 1;
    graph.add(8, all);
    for (u32 i = 0; i < strings; ++i)
      graph.add(3, {});
    graph.owner_count = graph.precise_owners = 1;
    graph.root(0, 0);
    DominatorTree tree = tree_of(graph);
    expect_sound(tree, graph);
    EXPECT_EQ(tree.retained(*tree.place(ObjectId{0})), (Retained{strings + 1, 8 + u64{strings} * 3}));
  }
}

//  Rungs of two: 0 -> 1, 2 -> 3 -> 4, 5 -> 6 ...
TEST(DominatorTree, ALadderOfDiamonds) {
  constexpr u32 rungs = 100'000;
  Graph graph;
  for (u32 i = 0; i < rungs; ++i) {
    graph.add(8, {3 * i + 1, 3 * i + 2});
    graph.add(8, {3 * i + 3});
    graph.add(8, {3 * i + 3});
  }
  graph.add(8, {});
  graph.owner_count = graph.precise_owners = 1;
  graph.root(0, 0);
  DominatorTree tree = tree_of(graph);
  expect_sound(tree, graph);
  for (u32 i = 0; i < rungs; i += 997) {
    EXPECT_EQ(tree.parent(*tree.place(ObjectId{3 * i + 3})), *tree.place(ObjectId{3 * i}));
    EXPECT_EQ(tree.retained(*tree.place(ObjectId{3 * i})).objects, 3 * (rungs - i) + 1);
    EXPECT_EQ(tree.retained(*tree.place(ObjectId{3 * i + 1})).objects, 1u);
  }
}

TEST(DominatorTree, CanBeInterrupted) {
  Graph graph = heap_like_graph(100'000);
  Progress progress;
  progress.cancel = true;
  Watch watch{.progress = &progress};
  EXPECT_THROW(DominatorTree(graph.edges(), graph.sizes(), graph.owners(), 2, watch), Interrupted);
}

} // namespace
} // namespace dnheap::test
