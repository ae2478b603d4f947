// The search's numbers against a plain depth-first search that keeps a cursor per object: random graphs, objects with
// few and with many references, a chain that leaves many references open, one to sixteen threads.
#include "algorithms/depth_first.h"
#include "support/property.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

struct Visit {
  u32 object, parent; // an ObjectId or number of objects + owner; a position in the order
  bool operator==(const Visit &) const = default;
};

// The order from the definition, owners included, without what the search leaves out.
std::vector<Visit> plain_order(const Graph &graph, const DepthFirst &search) {
  struct Open {
    u32 visit;
    u64 cursor;
  };
  const Edges edges = graph.edges();
  const Owners owners = graph.owners();
  const RootsByOwner roots(owners, graph.objects());
  const FannedOut &fanned_out = search.fanned_out;
  std::vector<bool> met(graph.objects());
  std::vector<Visit> out = {{graph.objects() + owners.count, 0}};
  auto may_enter = [&](u32 from, ObjectId to) {
    if (met[static_cast<u32>(to)] || search.left_out.test(to))
      return false;
    return fanned_out.from == no_object || !fanned_out.objects.test(to) ||
           (ObjectId{from} == fanned_out.from && !fanned_out.closed.test(to));
  };
  for (u32 owner = 0; owner < owners.count; ++owner) {
    const u32 top = static_cast<u32>(out.size());
    out.push_back({graph.objects() + owner, 0});
    for (ObjectId root : roots.of(owner)) {
      std::vector<Open> open;
      auto enter = [&](ObjectId object, u32 parent) {
        met[static_cast<u32>(object)] = true;
        open.push_back({static_cast<u32>(out.size()), 0});
        out.push_back({static_cast<u32>(object), parent});
      };
      if (may_enter(graph.objects() + owner, root))
        enter(root, top);
      while (!open.empty()) {
        const u32 visit = open.back().visit, object = out[visit].object;
        const std::span<const ObjectId> targets = edges.of(ObjectId{object});
        if (open.back().cursor == targets.size()) {
          open.pop_back();
          continue;
        }
        if (const ObjectId target = targets[open.back().cursor++]; may_enter(object, target))
          enter(target, visit);
      }
    }
  }
  return out;
}

std::vector<Visit> order_of(const Graph &graph, unsigned threads) {
  const Owners owners = graph.owners();
  DepthFirst search(graph.edges(), owners, RootsByOwner(owners, graph.objects()), threads, {});
  std::vector<Visit> out;
  for (u32 v = 0; v < search.vertices; ++v)
    out.push_back({search.object[v], search.vertex[v].ancestor});
  return out;
}

void expect_plain_order(const Graph &graph) {
  const Owners owners = graph.owners();
  const DepthFirst search(graph.edges(), owners, RootsByOwner(owners, graph.objects()), 1, {});
  const std::vector<Visit> expected = plain_order(graph, search);
  for (unsigned threads : {1u, 2u, 3u, 16u})
    ASSERT_TRUE(order_of(graph, threads) == expected) << threads << " threads";
}

// The same graph, and some objects that refer to up to 200, some to up to 1,100 others, some of them several times, to
// themselves, and to each other.
Graph with_wide_objects(const Graph &graph, u64 seed) {
  std::mt19937_64 random(seed);
  Graph out = graph;
  const u32 wide = 1 + static_cast<u32>(random() % 4), all = graph.objects() + wide;
  for (u32 i = 0; i < wide; ++i) {
    std::vector<u32> to;
    const u64 most = random() % 8 ? 200 : 1100;
    for (u64 left = random() % most; left > 0; --left)
      to.push_back(static_cast<u32>(random() % all));
    out.add(24, to);
    if (random() % 2)
      out.root(static_cast<u32>(random() % graph.owner_count), graph.objects() + i);
  }
  return out;
}

TEST(DepthFirst, NumbersAsAPlainSearchDoes) {
  for_all(2000, graphs(40, 300), [](const GraphCase &c) { expect_plain_order(c.graph); });
  for_all(2000, graphs(40, 300), [](const GraphCase &c) { expect_plain_order(with_wide_objects(c.graph, c.seed)); });
  expect_plain_order(heap_like_graph(100'000));
  expect_plain_order(node_array_graph(50'000));
  expect_plain_order(recursive_tree_graph(50'000));
}

// Every link leaves one reference open, more than a block of them holds, until the end of the chain.
TEST(DepthFirst, ReferencesThatWaitForTheEndOfAChain) {
  constexpr u32 links = 300'000;
  Graph graph;
  for (u32 i = 0; i < links; ++i)
    graph.add(24, {std::min(i + 1, links - 1), links + i, links + (i + 1) % links}); // each leaf has two referrers
  for (u32 i = 0; i < links; ++i)
    graph.add(24, {});
  graph.owner_count = graph.precise_owners = 1;
  graph.root(0, 0);
  expect_plain_order(graph);
}

} // namespace
} // namespace dnheap::test
