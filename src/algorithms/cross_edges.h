// CrossEdges: the references from a later vertex of a depth-first search to an earlier one, sorted by target. This is a
// counting sort in two steps: many threads distribute the references into buckets of 65,536 targets, then each bucket
// is sorted within a processor's cache when it is needed. Costs 6 bytes per such reference. The other references
// (earlier to later vertex) are not kept; only each vertex's least source is, as the first guess of its semidominator.
#pragma once
#include "algorithms/depth_first.h"

#include <memory>

namespace dnheap {

class CrossEdges {
public:
  static constexpr u32 bucket_bits = 16;
  static constexpr u32 bucket_size = 1u << bucket_bits;

  // Lowers each Vertex::semi of `search` to the least source. Counts in few_leaves how many left-out objects each
  // vertex refers to (255 = 255 or more). Ignores references to fanned-out objects.
  CrossEdges(const Edges &edges, const Owners &owners, const RootsByOwner &roots, DepthFirst &search, unsigned threads,
             const Watch &watch);

  // Sources by target, in descending order of targets: the sources of target end - 1 - i are sources[first[i]] to
  // sources[first[i + 1]].
  struct Sorted {
    u32 begin = 0, end = 0; // targets
    std::vector<u64> first;
    std::vector<u32> sources;
  };
  u32 buckets() const { return buckets_; }
  void sort(u32 bucket, Sorted &out) const;

  LargeArray<u8> few_leaves; // by DepthFirstNumber

private:
  static constexpr u32 chunk_size = 1360; // 8 KiB including its links
  struct Chunk {
    Chunk *next;
    u64 used;
    u32 source[chunk_size];
    u16 target[chunk_size]; // within the bucket
  };
  // Each thread has its own.
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
