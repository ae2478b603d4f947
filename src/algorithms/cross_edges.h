// CrossEdges: the references that lead back, from a later vertex of a depth-first search to an earlier one, in order of
// their targets: a counting sort in two steps, the first by many threads into buckets of 65,536 targets, the second
// within a processor's cache when a bucket is needed. Costs 6 bytes per such reference, and on the way gathers what the
// others (from an earlier vertex to a later one) say: the least such source is the first guess of a semidominator.
#pragma once
#include "algorithms/depth_first.h"

#include <memory>

namespace dnheap {

class CrossEdges {
public:
  static constexpr u32 bucket_bits = 16;
  static constexpr u32 bucket_size = 1u << bucket_bits;

  // Lowers Vertex::semi of `search` to the least source; counts in few_leaves, up to 255, the objects left out of the
  // search that each vertex refers to. References to what is fanned out say nothing.
  CrossEdges(const Edges &edges, const Owners &owners, const RootsByOwner &roots, DepthFirst &search, unsigned threads,
             const Watch &watch);

  // Sources by target, targets descending: those of bucket end - 1 - i are sources[first[i]] to sources[first[i + 1]].
  struct Sorted {
    u32 begin = 0, end = 0; // targets
    std::vector<u64> first;
    std::vector<u32> sources;
  };
  u32 buckets() const { return buckets_; }
  void sort(u32 bucket, Sorted &out) const;

  LargeArray<u8> few_leaves; // by DepthFirstNumber

private:
  static constexpr u32 chunk_size = 1360; // with its links 8 KiB
  struct Chunk {
    Chunk *next;
    u64 used;
    u32 source[chunk_size];
    u16 target[chunk_size]; // within the bucket
  };
  // Each thread's own.
  struct Writer {
    std::vector<Chunk *> lists; // by bucket
    std::vector<LargeArray<Chunk>> slabs;
    u64 free = 0; // chunks left in the last slab

    void add(u32 target, u32 source);
    Chunk *take();
  };
  class Sorter;

  u32 vertices_, buckets_;
  std::vector<Writer> writers_;
};

} // namespace dnheap
