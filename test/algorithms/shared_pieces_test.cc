// Which owners hold what no single one does: against searches from each owner by itself, on random graphs with ranks,
// hubs and links.
#include "algorithms/shared_pieces.h"
#include "support/property.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace dnheap::test {
namespace {

struct RankedGraph {
  Graph graph;
  std::vector<u32> ranks;
  std::vector<OwnedRoot> hubs;
  ObjectBits links;

  Owners owners() const {
    Owners out = graph.owners();
    out.ranks = ranks;
    out.hubs = hubs;
    out.links = &links;
    return out;
  }
};

RankedGraph ranked(const Graph &graph, u64 seed) {
  std::mt19937_64 random(seed);
  RankedGraph out{graph, {}, {}, ObjectBits(graph.objects())};
  for (u32 owner = 1; owner < graph.owner_count; ++owner)
    if (random() % 4 == 0)
      out.ranks.push_back(owner);
  if (graph.objects() && random() % 2) {
    out.ranks.push_back(out.graph.owner_count);
    out.hubs.push_back({ObjectId(static_cast<u32>(random() % graph.objects())), OwnerId{out.graph.owner_count++}});
  }
  if (out.ranks.empty())
    out.ranks.push_back(graph.precise_owners);
  for (u32 i = 0; i < graph.objects() && out.graph.owner_count; ++i)
    if (random() % 5 == 0) {
      out.links.set(ObjectId{i});
      out.graph.root(static_cast<u32>(random() % out.graph.owner_count), i);
    }
  return out;
}

// By object: the owners that reach it, of the first rank that does.
std::vector<std::set<u32>> reaching(const RankedGraph &of) {
  const u32 objects = of.graph.objects();
  std::vector<std::set<u32>> out(objects);
  std::vector<u32> ends = of.ranks;
  ends.push_back(of.graph.owner_count);
  u32 first = 0;
  for (u32 end : ends) {
    const std::vector<std::set<u32>> before = out;
    for (u32 owner = first; owner < end; ++owner) {
      std::vector<bool> met(objects);
      std::vector<u32> work;
      auto meet = [&](u32 object, bool is_own_hub) {
        const bool is_hub = std::any_of(of.hubs.begin(), of.hubs.end(), [&](const OwnedRoot &hub) {
          return static_cast<u32>(hub.object) == object && static_cast<u32>(hub.owner) != owner;
        });
        if (!met[object] && before[object].empty() && (!is_hub || is_own_hub)) {
          met[object] = true;
          work.push_back(object);
        }
      };
      for (const OwnedRoot &root : of.graph.roots)
        if (static_cast<u32>(root.owner) == owner)
          meet(static_cast<u32>(root.object), false);
      for (const OwnedRoot &root : of.hubs)
        if (static_cast<u32>(root.owner) == owner)
          meet(static_cast<u32>(root.object), true);
      while (!work.empty()) {
        const u32 object = work.back();
        work.pop_back();
        out[object].insert(owner);
        const Edges edges = of.graph.edges();
        for (ObjectId target : edges.of(ObjectId{object}))
          if (!of.links.test(object) || !of.links.test(target))
            meet(static_cast<u32>(target), false);
      }
    }
    first = end;
  }
  return out;
}

TEST(SharedPieces, OwnersAreThoseThatReachThem) {
  u64 seen = 0;
  for_all(4000, graphs(25, 80), [&](const GraphCase &c) {
    const RankedGraph of = ranked(c.graph, c.seed);
    const DominatorTree tree(of.graph.edges(), of.graph.sizes(), of.owners(), 1, {});
    const SharedPieces one(tree, of.graph.edges(), of.owners(), 1, {}),
        three(tree, of.graph.edges(), of.owners(), 3, {});
    const std::vector<std::set<u32>> owners = reaching(of);
    ASSERT_TRUE(one.is_complete());
    Retained sum;
    for (u64 i = 0; i < one.pieces().size(); ++i) {
      const SharedPieces::Piece &piece = one.pieces()[i];
      ASSERT_TRUE(tree.is_shared(piece.place));
      std::set<u32> found;
      for (OwnerId owner : one.owners(piece.set))
        found.insert(static_cast<u32>(owner));
      ASSERT_EQ(found, owners[static_cast<u32>(*tree.object(piece.place))]);
      ASSERT_GE(found.size(), 2u);
      ASSERT_EQ(one.owner_count(piece.set), found.size());
      ASSERT_EQ(three.owners(three.pieces()[i].set), one.owners(piece.set));
      sum.objects += tree.retained(piece.place).objects;
      sum.bytes += tree.retained(piece.place).bytes;
      ++seen;
    }
    ASSERT_EQ(sum, tree.shared());
    std::set<std::vector<OwnerId>> sets; // each set once
    std::set<u32> numbers;
    for (const SharedPieces::Piece &piece : one.pieces()) {
      sets.insert(one.owners(piece.set));
      numbers.insert(piece.set);
    }
    ASSERT_EQ(sets.size(), numbers.size());
  });
  EXPECT_GT(seen, 1000u);
}

// Objects that refer to most of the others, and several times to the same one; more references than a thread keeps as
// they come.
TEST(SharedPieces, WideObjectsAreNoDifferent) {
  constexpr u32 objects = 4000, wide = 6;
  std::mt19937_64 random(7);
  Graph graph;
  for (u32 i = 0; i < objects; ++i)
    graph.add(24, {static_cast<u32>(random() % objects), static_cast<u32>(random() % objects)});
  for (u32 i = 0; i < wide; ++i) {
    std::vector<u32> to;
    for (u32 left = i == 0 ? 1'200'000 : 5000; left > 0; --left)
      to.push_back(static_cast<u32>(random() % objects));
    graph.add(24, to);
  }
  graph.owner_count = graph.precise_owners = wide;
  for (u32 owner = 0; owner < wide; ++owner)
    graph.root(owner, objects + owner);
  RankedGraph of{graph, {2, 4}, {}, ObjectBits(graph.objects())};
  const DominatorTree tree(graph.edges(), graph.sizes(), of.owners(), 1, {});
  const std::vector<std::set<u32>> owners = reaching(of);
  for (unsigned threads : {1u, 3u}) {
    const SharedPieces shared(tree, graph.edges(), of.owners(), threads, {});
    ASSERT_GT(shared.pieces().size(), objects / 2);
    for (const SharedPieces::Piece &piece : shared.pieces()) {
      std::set<u32> found;
      for (OwnerId owner : shared.owners(piece.set))
        found.insert(static_cast<u32>(owner));
      ASSERT_EQ(found, owners[static_cast<u32>(*tree.object(piece.place))]);
    }
  }
}

TEST(SharedPieces, StopsInTheEnd) {
  Graph graph;
  graph.owner_count = graph.precise_owners = 50;
  for (u32 i = 0; i < 1000; ++i)
    graph.add(24, {(i + 1) % 1000});
  for (u32 owner = 0; owner < 50; ++owner)
    graph.root(owner, owner * 20);
  const DominatorTree tree(graph.edges(), graph.sizes(), graph.owners(), 1, {});
  EXPECT_TRUE(SharedPieces(tree, graph.edges(), graph.owners(), 1, {}).is_complete());
  EXPECT_FALSE(SharedPieces(tree, graph.edges(), graph.owners(), 1, {}, 100).is_complete());
}

} // namespace
} // namespace dnheap::test
