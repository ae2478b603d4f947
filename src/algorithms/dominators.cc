#include "algorithms/dominators.h"

#include "base/parallel.h"

#include <array>

namespace dnheap {
namespace {

// Once all vertices are linked, two members of Vertex are free, and hold these two values.
u32 &jump(Vertex &v) { return v.ancestor; } // an ancestor far up, chosen so that a climb takes O(log n) steps
u32 &depth(Vertex &v) { return v.semi; }    // in the dominator tree

class Solver {
public:
  explicit Solver(DepthFirst &search) : vertex_(search.vertex.data()) {}

  // Finds the semidominators of one bucket's vertices, last vertex first.
  void solve(const CrossEdges::Sorted &edges) {
    constexpr u64 ahead = 16;
    const u32 *sources = edges.sources.data();
    u64 total = edges.sources.size();
    u64 at = 0;
    for (u32 i = 0, v = edges.end; v-- > std::max(edges.begin, 1u); ++i) {
      u32 semi = vertex_[v].semi;
      for (u64 end = edges.first[i + 1]; at < end; ++at) {
        if (at + 2 * ahead < total) {
          __builtin_prefetch(&vertex_[sources[at + 2 * ahead]]);
          __builtin_prefetch(&vertex_[vertex_[sources[at + ahead]].ancestor]);
        }
        semi = std::min(semi, evaluate(sources[at], v));
      }
      const u32 parent = vertex_[v].ancestor;
      vertex_[v] = {parent, parent, semi, semi};
    }
  }

  // The dominator is the nearest of {parent, the parent's dominators} whose number is not above the semidominator's.
  // Going through vertices in ascending order, the parent's dominators are known.
  void find_dominators(u32 vertices) {
    vertex_[0] = {0, 0, 0, 0};
    for (u32 v = 1; v < vertices; ++v) {
      Vertex &here = vertex_[v];
      const u32 semidominator = here.dominator;
      u32 up = here.parent;
      while (up > semidominator)
        up = jump(vertex_[up]) > semidominator ? jump(vertex_[up]) : vertex_[up].dominator;
      here.dominator = up;
      depth(here) = depth(vertex_[up]) + 1;
      Vertex &far = vertex_[jump(vertex_[up])];
      const bool as_far_again = depth(vertex_[up]) - depth(far) == depth(far) - depth(vertex_[jump(far)]);
      jump(here) = as_far_again ? jump(far) : up;
    }
  }

private:
  // Returns the least semidominator on the path from u up to the first unlinked vertex, which does not count. All
  // vertices after v are linked to their parents, v is not.
  u32 evaluate(u32 u, u32 v) {
    if (vertex_[u].ancestor > v)
      compress(u, v);
    return vertex_[u].semi;
  }
  void compress(u32 u, u32 v) {
    path_.clear();
    for (; vertex_[u].ancestor > v; u = vertex_[u].ancestor)
      path_.push_back(u);
    u32 ancestor = vertex_[u].ancestor, least = vertex_[u].semi; // members of the topmost linked vertex
    for (u64 i = path_.size(); i-- > 0;) {
      Vertex &here = vertex_[path_[i]];
      here.ancestor = ancestor;
      here.semi = least = std::min(least, here.semi);
    }
  }

  Vertex *vertex_;
  std::vector<u32> path_;
};

} // namespace

void solve_dominators(DepthFirst &search, const CrossEdges &edges, unsigned threads, const Watch &watch) {
  Timer timer(watch, "dominators");
  Solver solver(search);
  std::array<CrossEdges::Sorted, 2> sorted;
  u32 buckets = edges.buckets();
  edges.sort(buckets - 1, sorted[(buckets - 1) % 2]);
  for (u32 bucket = buckets; bucket-- > 0;) {
    watch.check();
    parallel_for(bucket > 0 ? 2 : 1, threads, [&](u64 i, unsigned) {
      if (i == 0)
        solver.solve(sorted[bucket % 2]);
      else
        edges.sort(bucket - 1, sorted[(bucket - 1) % 2]);
    });
  }
  solver.find_dominators(search.vertices);
}

} // namespace dnheap
