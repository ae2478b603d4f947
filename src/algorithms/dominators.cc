#include "algorithms/dominators.h"

#include "base/parallel.h"

#include <array>

namespace dnheap {
namespace {

class Solver {
public:
  Solver(DepthFirst &search) : vertex_(search.vertex.data()), deferred_(search.vertices) {}

  // Vertices of one bucket, the last one first.
  void solve(const CrossEdges::Sorted &edges) {
    constexpr u64 ahead = 24;
    const u32 *sources = edges.sources.data();
    u64 total = edges.sources.size();
    u64 at = 0;
    for (u32 i = 0, v = edges.end; v-- > std::max(edges.begin, 1u); ++i) {
      drain(v);
      u32 semi = vertex_[v].semi;
      for (u64 end = edges.first[i + 1]; at < end; ++at) {
        if (at + ahead < total)
          __builtin_prefetch(&vertex_[sources[at + ahead]]);
        semi = std::min(semi, evaluate(sources[at], v).semi);
      }
      enlist(v, semi);
    }
    if (edges.begin == 0) {
      drain(0);
      vertex_[0].bucket = 0;
    }
  }

  // A deferred vertex has the same dominator as the vertex noted in its bucket. In ascending order that one is known.
  void resolve_deferred(u32 vertices) {
    for (u32 v = 1; v < vertices; ++v)
      if (deferred_.test(v))
        vertex_[v].bucket = vertex_[vertex_[v].bucket].bucket;
  }

private:
  // All vertices after v are linked to their parents, v is not. Of the path from u up to, not including, the first
  // vertex that is not linked: the least semidominator (semi), and the vertex that has it (label).
  const Vertex &evaluate(u32 u, u32 v) {
    if (vertex_[u].ancestor > v)
      compress(u, v);
    return vertex_[u];
  }
  void compress(u32 u, u32 v) {
    path_.clear();
    for (; vertex_[u].ancestor > v; u = vertex_[u].ancestor)
      path_.push_back(u);
    Vertex above = vertex_[u]; // the topmost linked one
    for (u64 i = path_.size(); i-- > 0;) {
      Vertex &here = vertex_[path_[i]];
      here.ancestor = above.ancestor;
      if (above.semi < here.semi) {
        here.semi = above.semi;
        here.label = above.label;
      }
      above = here;
    }
  }
  void enlist(u32 v, u32 semi) {
    Vertex &here = vertex_[v];
    here.label = v;
    here.semi = semi;
    if (semi == here.ancestor) { // the parent: nothing lies between
      here.bucket = semi;
    } else {
      here.bucket = vertex_[semi].bucket;
      vertex_[semi].bucket = v;
    }
  }
  // The vertices whose semidominator is v get their dominator, or the vertex that has the same one.
  void drain(u32 v) {
    u32 next;
    for (u32 w = vertex_[v].bucket; w != 0; w = next) {
      next = vertex_[w].bucket;
      if (next != 0)
        __builtin_prefetch(&vertex_[next]);
      const Vertex &least = evaluate(w, v);
      if (least.semi < v) {
        vertex_[w].bucket = least.label;
        deferred_.set(w);
      } else {
        vertex_[w].bucket = v;
      }
    }
  }

  Vertex *vertex_;
  ObjectBits deferred_; // by DepthFirstNumber
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
  solver.resolve_deferred(search.vertices);
}

} // namespace dnheap
