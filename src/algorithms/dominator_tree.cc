#include "algorithms/dominator_tree.h"

#include "algorithms/dominators.h"
#include "base/parallel.h"

#include <numeric>

namespace dnheap {
namespace {

constexpr u64 sum_part = u64{1} << 16;

// body(begin, end) for parts of [0, count), by many threads.
template <class Body> void for_parts(u64 count, unsigned threads, const Watch &watch, Body body) {
  parallel_for((count + sum_part - 1) / sum_part, threads, [&](u64 part, unsigned) {
    watch.check();
    body(part * sum_part, std::min(count, (part + 1) * sum_part));
  });
}

// What each vertex refers to.
struct Targets {
  const Edges &edges;
  const RootsByOwner &roots;
  const DepthFirst &search;

  std::span<const ObjectId> operator[](u64 v) const {
    u64 node = search.object[v];
    if (node < edges.objects())
      return edges.of(ObjectId(node));
    u64 owner = node - edges.objects();
    return owner + 1 < roots.first.size() ? roots.of(static_cast<u32>(owner)) : std::span<const ObjectId>();
  }
};

// Dominators are known now, each in Vertex::bucket. The other members are no longer needed, and hold these instead
// while each vertex is given its place in the tree.
u32 &subtree(Vertex &v) { return v.ancestor; } // how many places its subtree takes
u32 &next_place(Vertex &v) { return v.label; } // how many leaves it has, then the place of its next child
u32 &own_place(Vertex &v) { return v.semi; }

void count_subtrees(const Targets &targets, DepthFirst &search, const LargeArray<u8> &few_leaves, unsigned threads,
                    const Watch &watch) {
  for_parts(search.vertices, threads, watch, [&](u64 begin, u64 end) {
    for (u64 v = begin; v < end; ++v) {
      u32 leaves = few_leaves[v];
      if (leaves == 255) { // or more
        leaves = 0;
        for (ObjectId target : targets[v])
          leaves += search.left_out.test(target);
      }
      next_place(search.vertex[v]) = leaves;
      subtree(search.vertex[v]) = 1 + leaves;
    }
  });
  constexpr u32 ahead = 24;
  for (u32 v = search.vertices; v-- > 1;) {
    if (v > ahead)
      __builtin_prefetch(&search.vertex[search.vertex[v - ahead].bucket]);
    subtree(search.vertex[search.vertex[v].bucket]) += subtree(search.vertex[v]);
  }
}

// Preorder: a vertex, its leaves, then its children with their subtrees, in the order of their depth-first numbers.
void give_places(DepthFirst &search) {
  constexpr u32 ahead = 24;
  own_place(search.vertex[0]) = 0;
  next_place(search.vertex[0]) += 1;
  for (u32 v = 1; v < search.vertices; ++v) {
    if (search.vertices - v > ahead)
      __builtin_prefetch(&search.vertex[search.vertex[v + ahead].bucket]);
    Vertex &here = search.vertex[v];
    Vertex &dominator = search.vertex[here.bucket];
    own_place(here) = next_place(dominator);
    next_place(dominator) += subtree(here);
    next_place(here) += own_place(here) + 1;
  }
}

} // namespace

DominatorTree::DominatorTree(const Edges &edges, const ObjectSizes &sizes, const Owners &owners, unsigned threads,
                             const Watch &watch)
    : objects_(edges.objects()) {
  {
    RootsByOwner roots(owners, objects_);
    const FannedOut fanned_out = find_fanned_out(edges, owners, roots, threads, watch);
    DepthFirst search(edges, owners, roots, fanned_out, threads, watch);
    LargeArray<u8> few_leaves;
    {
      CrossEdges cross_edges(edges, owners, roots, fanned_out, search, threads, watch);
      solve_dominators(search, cross_edges, threads, watch);
      few_leaves = std::move(cross_edges.few_leaves);
    }
    owner_place_.resize(owners.count);
    lay_out(edges, roots, search, few_leaves, threads, watch);
  }
  add_up(sizes, threads, watch);
}

void DominatorTree::lay_out(const Edges &edges, const RootsByOwner &roots, DepthFirst &search,
                            const LargeArray<u8> &few_leaves, unsigned threads, const Watch &watch) {
  Timer timer(watch, "dominator tree");
  Targets targets{edges, roots, search};
  count_subtrees(targets, search, few_leaves, threads, watch);
  give_places(search);

  u64 size = subtree(search.vertex[0]);
  node_ = LargeArray<u32>(size);
  count_ = LargeArray<u32>(size);
  parent_ = LargeArray<u32>(size);
  place_ = std::move(search.number);
  for_parts(search.vertices, threads, watch, [&](u64 begin, u64 end) {
    for (u64 v = begin; v < end; ++v) {
      Vertex &here = search.vertex[v];
      u32 at = own_place(here), node = search.object[v];
      node_[at] = node;
      count_[at] = subtree(here);
      parent_[at] = own_place(search.vertex[here.bucket]);
      if (node < objects_)
        place_[node] = at;
      else if (v != 0)
        owner_place_[node - objects_] = at;
      if (few_leaves[v] == 0)
        continue;
      u32 leaf = at;
      for (ObjectId target : targets[v])
        if (search.left_out.test(target)) {
          ++leaf;
          node_[leaf] = static_cast<u32>(target);
          count_[leaf] = 1;
          parent_[leaf] = at;
          place_[static_cast<u32>(target)] = leaf;
        }
    }
  });
}

void DominatorTree::add_up(const ObjectSizes &sizes, unsigned threads, const Watch &watch) {
  Timer timer(watch, "retained sizes");
  sum_ = LargeArray<u64>(node_.size() + 1);
  std::vector<u64> totals((node_.size() + sum_part - 1) / sum_part + 1);
  for_parts(node_.size(), threads, watch, [&](u64 begin, u64 end) {
    constexpr u64 ahead = 24;
    u64 total = 0;
    for (u64 at = begin; at < end; ++at) {
      if (end - at > ahead && node_[at + ahead] < objects_)
        __builtin_prefetch(&sizes.bytes[node_[at + ahead]]);
      if (node_[at] < objects_)
        total += sizes.of(ObjectId{node_[at]});
      sum_[at + 1] = total;
    }
    totals[begin / sum_part + 1] = total;
  });
  std::partial_sum(totals.begin(), totals.end(), totals.begin());
  for_parts(node_.size(), threads, watch, [&](u64 begin, u64 end) {
    u64 before = totals[begin / sum_part];
    for (u64 at = begin; at < end; ++at)
      sum_[at + 1] += before;
  });
  u64 all = 0;
  for (u64 i = 0; i < objects_; ++i)
    all += sizes.of(ObjectId(i));
  unreachable_bytes_ = all - reached().bytes;
}

Retained DominatorTree::shared() const {
  Retained sum;
  for_each_child(TreePlace{0}, [&](TreePlace at) {
    if (object(at)) {
      Retained one = retained(at);
      sum.objects += one.objects;
      sum.bytes += one.bytes;
    }
  });
  return sum;
}

Retained DominatorTree::unreachable() const { return {objects_ - reached().objects, unreachable_bytes_}; }

} // namespace dnheap
