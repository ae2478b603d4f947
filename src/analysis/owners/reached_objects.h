// ReachedObjects: the objects that have a place in a dominator tree, which something keeps alive, and what they add up
// to. As Snapshot::live() has them, for who has the tree already: one parallel look at each object's place, type and
// size, and none at the heap. A bit per place of the heap. Throws Interrupted. One thread.
#pragma once
#include "algorithms/dominator_tree.h"
#include "heap/tally.h"
#include "snapshot/snapshot.h"

#include <vector>

namespace dnheap {

struct ReachedObjects {
  ReachedObjects(Snapshot &snapshot, const DominatorTree &tree);

  HeapBits all;
  std::vector<u64> by_type; // their number, by TypeId
  HeapTally by_segment;     // aligned bytes of those that are not frozen; nothing else is told
};

} // namespace dnheap
