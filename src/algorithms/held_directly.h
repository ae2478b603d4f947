// HeldDirectly: the objects whose dominator refers to them. Most objects are in this set. Any other referrer of such an
// object lies below the dominator, so no path from a root through it is shorter. Costs one look at each reference and
// three random memory reads per reference; 1.5 bits per object. Immutable; any thread.
#pragma once
#include "algorithms/dominator_tree.h"
#include "algorithms/object_bits.h"
#include "base/count_bits.h"

namespace dnheap {

class HeldDirectly {
public:
  // `tree` must be of the same objects and outlive this object. Throws Interrupted.
  HeldDirectly(const Edges &edges, const DominatorTree &tree, unsigned threads, const Watch &watch);

  bool test(ObjectId object) const { return bits_.test(object); }
  // Returns the dominator. `object` must be held directly.
  ObjectId dominator(ObjectId object) const { return *tree_.object(tree_.parent(*tree_.place(object))); }
  // Numbers the objects that are not held directly, in their order. others() returns how many there are.
  u64 number(ObjectId other) const {
    const u64 i = static_cast<u32>(other), word = bits_.words()[i / 64] | ~u64{0} << (i % 64);
    return before_[i / 64] + count_bits(~word);
  }
  u64 others() const { return others_; }
  const DominatorTree &tree() const { return tree_; }
  // Prefetches the memory that test() will read.
  void prefetch(ObjectId object) const { bits_.prefetch(object); }

private:
  const DominatorTree &tree_;
  ObjectBits bits_;
  LargeArray<u32> before_; // per 64 objects: the others before them
  u64 others_ = 0;
};

} // namespace dnheap
