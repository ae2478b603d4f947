// SharedPieces: the children of the dominator tree's virtual root that are no owners: objects that several owners
// share, each a piece with everything it retains, and the exact set of its owners: a search from each owner over the
// pieces of its rank that no earlier rank reached, by PieceLinks. Costs 8 bytes per piece, while it is made those of
// PieceLinks and 12 more. The searches stop after `most_steps`; is_complete() then returns false. Immutable; any
// thread.
#pragma once
#include "algorithms/piece_links.h"

namespace dnheap {

class SharedPieces {
public:
  struct Piece {
    TreePlace place;
    u32 set = 0; // number of its set of owners
  };

  // `owners` must be those of the tree. Throws Interrupted.
  SharedPieces(const DominatorTree &tree, const Edges &edges, const Owners &owners, unsigned threads,
               const Watch &watch, u64 most_steps = u64{1} << 28);

  std::span<const Piece> pieces() const { return pieces_; } // in tree order
  // False if the steps ran out: sets may lack owners.
  bool is_complete() const { return is_complete_; }
  u32 sets() const { return static_cast<u32>(sets_.size()); } // set 0 has no owner
  u32 owner_count(u32 set) const { return sets_[set].count; }
  std::vector<OwnerId> owners(u32 set) const; // ascending

private:
  struct Set { // another set plus one owner
    u32 without = 0, owner = 0, count = 0;
  };

  // By number of a piece (RankedBits, by ObjectId).
  struct Met {
    u32 by;  // one more than the owner that met it last; 0: none
    u32 set; // number of the set of all that did
  };
  LargeArray<Met> search(const PieceLinks &links, u32 pieces, const Owners &owners, const Watch &watch, u64 most_steps);

  std::vector<Piece> pieces_;
  std::vector<Set> sets_{{}};
  bool is_complete_ = true;
};

} // namespace dnheap
