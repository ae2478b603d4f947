// SharedPieces: what the dominator tree puts right under its virtual root although it is no owner: objects that several
// owners hold, each a piece with all that hangs on it; and by which owners exactly. A reference that leads from one
// subtree to another can only lead to a piece, so it is enough to search among pieces: one parallel pass over all
// edges, then a search from each owner over what of its rank nobody has reached before. Costs 8 bytes per reference to
// a piece and 32 per piece; the searches stop after `most_steps`, and is_complete() says so. Immutable; any thread.
#pragma once
#include "algorithms/dominator_tree.h"

namespace dnheap {

class SharedPieces {
public:
  struct Piece {
    TreePlace place;
    u32 set = 0; // of owners
  };

  // `owners`: those that the tree is of. Throws Interrupted.
  SharedPieces(const DominatorTree &tree, const Edges &edges, const Owners &owners, unsigned threads,
               const Watch &watch, u64 most_steps = u64{1} << 28);

  std::span<const Piece> pieces() const { return pieces_; } // in the tree's order
  // False: there were too many steps, and sets may lack owners.
  bool is_complete() const { return is_complete_; }
  u32 sets() const { return static_cast<u32>(sets_.size()); } // the first has no owner
  u32 owner_count(u32 set) const { return sets_[set].count; }
  std::vector<OwnerId> owners(u32 set) const; // ascending

private:
  struct Set { // another one, and one owner more
    u32 without = 0, owner = 0, count = 0;
  };

  struct Links { // from pieces, then owners, to pieces: those of i are targets[first[i]] up to targets[first[i + 1]]
    std::vector<u64> first;
    std::vector<u32> targets;
  };
  Links links_of(const DominatorTree &tree, const Edges &edges, const Owners &owners, unsigned threads,
                 const Watch &watch) const;
  void search(const Links &links, const Owners &owners, const Watch &watch, u64 most_steps);

  std::vector<Piece> pieces_;
  std::vector<Set> sets_{{}};
  bool is_complete_ = true;
};

} // namespace dnheap
