// PieceLinks: to which pieces each piece, and each owner, leads at once: a piece is a child of the dominator tree's
// virtual root that is no owner, with its whole subtree. A reference from one subtree to another can only lead to a
// piece. One parallel pass over all edges, in their order: a piece's number is a rank, so that the pass misses the
// caches only for objects deep in a piece that refer to another. Costs 4 bytes per link and 8 per piece; while it is
// made 8 per reference to a piece, at most 16 per object and 16 per link. Immutable; any thread.
#pragma once
#include "algorithms/dominator_tree.h"
#include "algorithms/ranked_bits.h"

namespace dnheap {

class PieceLinks {
public:
  // `pieces`: a bit by ObjectId, counted; its rank is the piece's number. `owners` must be those of the tree. Throws
  // Interrupted.
  PieceLinks(const DominatorTree &tree, const Edges &edges, const Owners &owners, const RankedBits &pieces,
             unsigned threads, const Watch &watch);

  // Returns numbers of pieces, ascending, each once. `from`: a piece's number, or number of pieces + owner.
  std::span<const u32> of(u32 from) const {
    return std::span<const u32>(targets_).subspan(first_[from], first_[from + 1] - first_[from]);
  }
  // Prefetch what of() will read, and then what its result refers to, which reads what of() does.
  void prefetch(u32 from) const { __builtin_prefetch(&first_[from]); }
  void prefetch_targets(u32 from) const { __builtin_prefetch(targets_.data() + first_[from]); }

private:
  LargeArray<u64> first_;
  LargeArray<u32> targets_;
};

} // namespace dnheap
