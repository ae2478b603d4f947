// ReachedObjects: the objects that have a place in a dominator tree, so that something keeps them alive, and their
// totals. The same result as Snapshot::live(), for callers that have the tree already: one parallel look at each
// object's place, type and size, and none at the heap. Uses a bit per possible object address. Throws Interrupted. Not
// for several threads at once.
#pragma once
#include "algorithms/dominator_tree.h"
#include "heap/tally.h"
#include "snapshot/snapshot.h"

#include <vector>

namespace dnheap {

struct ReachedObjects {
  ReachedObjects(const Snapshot &snapshot, const DominatorTree &tree);

  HeapBits all;
  std::vector<u64> by_type; // number of objects, by TypeId
  HeapTally by_segment;     // aligned bytes of objects that are not frozen; its other members stay empty
};

} // namespace dnheap
