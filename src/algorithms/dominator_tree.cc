#include "algorithms/dominator_tree.h"

#include "algorithms/dominators.h"
#include "base/parallel.h"

#include <atomic>
#include <numeric>

namespace dnheap {
namespace {

constexpr u64 sum_part = u64{1} << 16;

// Calls body(begin, end) for parts of [0, count), on many threads.
template <class Body> void for_parts(u64 count, unsigned threads, const Watch &watch, Body body) {
  parallel_for_parts(count, sum_part, threads, [&](u64 begin, u64 end, unsigned) {
    watch.check();
    body(begin, end);
  });
}

// The objects that each vertex refers to.
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

// Each Vertex::dominator is final now. The other members are free, so they hold these values while vertices get their
// places in the tree.
u32 &subtree(Vertex &v) { return v.ancestor; }  // number of places its subtree takes
u32 &next_place(Vertex &v) { return v.parent; } // number of its leaves, later the place of its next child
u32 &own_place(Vertex &v) { return v.semi; }
u32 &parent_place(Vertex &v) { return v.dominator; } // once give_places() is done with the vertex

u32 count_leaves(std::span<const ObjectId> targets, const ObjectBits &left_out) {
  u32 out = 0;
  for (ObjectId target : targets)
    out += left_out.test(target);
  return out;
}

// The closed fanned-out objects and their leaves. Stores for each stretch of objects how many places lie before it.
class ClosedPlaces {
public:
  ClosedPlaces(const Edges &edges, const DepthFirst &search, unsigned threads, const Watch &watch)
      : edges_(edges), search_(search) {
    const ObjectId from = search.fanned_out.from;
    vertex_ = from != no_object ? search.number[static_cast<u32>(from)] : 0;
    if (vertex_ == 0)
      return;
    before_.resize((edges.objects() + sum_part - 1) / sum_part + 1);
    for_parts(edges.objects(), threads, watch, [&](u64 begin, u64 end) {
      for_each(begin, end, [&](ObjectId, u32 leaves) { before_[begin / sum_part + 1] += 1 + leaves; });
    });
    std::partial_sum(before_.begin(), before_.end(), before_.begin());
  }
  // Returns the vertex of the array they are fanned out from; 0: no root reaches it, or there is none.
  u32 vertex() const { return vertex_; }
  u32 count() const { return before_.empty() ? 0 : before_.back(); } // number of places
  // Calls visit(object, leaves, places before it) for each closed object, on many threads.
  template <class Visit> void for_all(unsigned threads, const Watch &watch, Visit visit) const {
    for_parts(edges_.objects(), threads, watch, [&](u64 begin, u64 end) {
      u32 before = before_[begin / sum_part];
      for_each(begin, end, [&](ObjectId object, u32 leaves) {
        visit(object, leaves, before);
        before += 1 + leaves;
      });
    });
  }

private:
  template <class Visit> void for_each(u64 begin, u64 end, Visit visit) const {
    for (u64 i = begin; i < end; ++i)
      if (search_.fanned_out.closed.test(i))
        visit(ObjectId(i), count_leaves(edges_.of(ObjectId(i)), search_.left_out));
  }

  const Edges &edges_;
  const DepthFirst &search_;
  u32 vertex_ = 0;
  std::vector<u32> before_;
};

void count_subtrees(const Targets &targets, DepthFirst &search, const LargeArray<u8> &few_leaves,
                    const ClosedPlaces &closed, unsigned threads, const Watch &watch) {
  for_parts(search.vertices, threads, watch, [&](u64 begin, u64 end) {
    for (u64 v = begin; v < end; ++v) {
      u32 leaves = few_leaves[v];
      if (leaves == 255) // 255 or more: count exactly
        leaves = count_leaves(targets[v], search.left_out);
      next_place(search.vertex[v]) = leaves;
      subtree(search.vertex[v]) = 1 + leaves;
    }
  });
  if (closed.vertex()) {
    next_place(search.vertex[closed.vertex()]) += closed.count();
    subtree(search.vertex[closed.vertex()]) += closed.count();
  }
  constexpr u32 ahead = 24;
  for (u32 v = search.vertices; v-- > 1;) {
    if (v > ahead)
      __builtin_prefetch(&search.vertex[search.vertex[v - ahead].dominator]);
    subtree(search.vertex[search.vertex[v].dominator]) += subtree(search.vertex[v]);
  }
}

// Assigns preorder places: a vertex, its leaves, its closed fanned-out objects, then its children with their subtrees
// in depth-first order.
void give_places(DepthFirst &search) {
  constexpr u32 ahead = 24;
  own_place(search.vertex[0]) = 0;
  next_place(search.vertex[0]) += 1;
  for (u32 v = 1; v < search.vertices; ++v) {
    if (search.vertices - v > ahead)
      __builtin_prefetch(&search.vertex[search.vertex[v + ahead].dominator]);
    Vertex &here = search.vertex[v];
    Vertex &dominator = search.vertex[here.dominator];
    own_place(here) = next_place(dominator);
    parent_place(here) = own_place(dominator);
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
    DepthFirst search(edges, owners, roots, threads, watch);
    LargeArray<u8> few_leaves;
    {
      CrossEdges cross_edges(edges, owners, roots, search, threads, watch);
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
  const ClosedPlaces closed(edges, search, threads, watch);
  count_subtrees(targets, search, few_leaves, closed, threads, watch);
  give_places(search);

  u64 size = subtree(search.vertex[0]);
  node_ = LargeArray<u32>(size);
  count_ = LargeArray<u32>(size);
  parent_ = LargeArray<u32>(size);
  place_ = std::move(search.number);
  auto lay_leaves = [&](std::span<const ObjectId> from, u32 at) { // puts them after the place `at`
    u32 leaf = at;
    for (ObjectId target : from)
      if (search.left_out.test(target)) {
        ++leaf;
        node_[leaf] = static_cast<u32>(target);
        count_[leaf] = 1;
        parent_[leaf] = at;
        place_[static_cast<u32>(target)] = leaf;
      }
  };
  auto bring_in = [&](u64 v) { // what the vertices ahead will need
    constexpr u64 ahead = 12;
    if (v + 2 * ahead >= search.vertices)
      return;
    if (const u32 later = search.object[v + 2 * ahead]; few_leaves[v + 2 * ahead] && later < objects_)
      edges.prefetch(later);
    const u32 next = search.object[v + ahead];
    if (next >= objects_)
      return;
    __builtin_prefetch(&place_[next], 1);
    if (few_leaves[v + ahead])
      edges.prefetch_targets(next);
  };
  for_parts(search.vertices, threads, watch, [&](u64 begin, u64 end) {
    for (u64 v = begin; v < end; ++v) {
      bring_in(v);
      Vertex &here = search.vertex[v];
      u32 at = own_place(here), node = search.object[v];
      node_[at] = node;
      count_[at] = subtree(here);
      parent_[at] = parent_place(here);
      if (node < objects_)
        place_[node] = at;
      else if (v != 0)
        owner_place_[node - objects_] = at;
      if (few_leaves[v] == 0)
        continue;
      lay_leaves(targets[v], at);
    }
  });
  if (closed.vertex() == 0)
    return;
  const u32 from = own_place(search.vertex[closed.vertex()]);
  const u32 first = from + 1 + count_leaves(edges.of(search.fanned_out.from), search.left_out);
  closed.for_all(threads, watch, [&](ObjectId object, u32 leaves, u32 before) {
    const u32 at = first + before;
    node_[at] = static_cast<u32>(object);
    count_[at] = 1 + leaves;
    parent_[at] = from;
    place_[static_cast<u32>(object)] = at;
    if (leaves)
      lay_leaves(edges.of(object), at);
  });
}

void DominatorTree::add_up(const ObjectSizes &sizes, unsigned threads, const Watch &watch) {
  Timer timer(watch, "retained sizes");
  bytes_ = PrefixSums(node_.size(), threads, watch, [&](u64 at) {
    constexpr u64 ahead = 24;
    if (node_.size() - at > ahead && node_[at + ahead] < objects_)
      __builtin_prefetch(&sizes.bytes[node_[at + ahead]]);
    return node_[at] < objects_ ? sizes.of(ObjectId{node_[at]}) : 0;
  });
  std::atomic<u64> all{0};
  for_parts(objects_, threads, watch, [&](u64 begin, u64 end) {
    u64 part = 0;
    for (u64 i = begin; i < end; ++i)
      part += sizes.of(ObjectId(i));
    all += part;
  });
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
