// HeldDirectly: the objects whose dominator refers to them, as that of most objects does. Any other referrer of such an
// object lies below the dominator, so no way from a root over that one is shorter. Costs a look at each reference and
// three at random places for it; 1.5 bits per object. Immutable; any thread.
#pragma once
#include "algorithms/dominator_tree.h"
#include "algorithms/object_bits.h"
#include "base/count_bits.h"

namespace dnheap {

class HeldDirectly {
public:
  // `tree`: of the same objects; outlives this. Throws Interrupted.
  HeldDirectly(const Edges &edges, const DominatorTree &tree, unsigned threads, const Watch &watch);

  bool test(ObjectId object) const { return bits_.test(object); }
  // Of an object that is among them.
  ObjectId dominator(ObjectId object) const { return *tree_.object(tree_.parent(*tree_.place(object))); }
  // The others by their order, and how many these are.
  u64 number(ObjectId other) const {
    const u64 i = static_cast<u32>(other), word = bits_.words()[i / 64] | ~u64{0} << (i % 64);
    return before_[i / 64] + count_bits(~word);
  }
  u64 others() const { return others_; }
  const DominatorTree &tree() const { return tree_; }
  // Asks for what test() will read.
  void prefetch(ObjectId object) const { bits_.prefetch(object); }

private:
  const DominatorTree &tree_;
  ObjectBits bits_;
  LargeArray<u32> before_; // others before each 64 objects
  u64 others_ = 0;
};

} // namespace dnheap
