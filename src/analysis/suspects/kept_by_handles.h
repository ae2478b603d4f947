// Says how many GCHandles keep the objects that an owner's line counts: whoever reads "handle:strong Shop.Session" may
// not know that the program made these handles, and has to free them. Costs a look at all roots. Any thread.
#pragma once
#include "algorithms/dominator_tree.h"
#include "objects/object_graph.h"
#include "snapshot/snapshot.h"

#include <string>

namespace dnheap {

// Returns "by 8,000 GCHandles (strong) that nobody freed" for objects of a type below a place of the tree; empty if
// there are fewer than a hundred, or if they are of types for which the runtime makes handles itself.
std::string kept_by_handles(const Snapshot &snapshot, const DominatorTree &tree, TreePlace top, TypeId type);

} // namespace dnheap
