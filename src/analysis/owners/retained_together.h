// retained_together(): what would be freed if all of some objects went, each counted with what it retains in a
// dominator tree; an object that another one of them retains counts once. Sorts their places; any thread.
#pragma once
#include "algorithms/dominator_tree.h"
#include "snapshot/snapshot.h"

#include <span>

namespace dnheap {

// Addresses that are no object, and objects that no root reaches, count nothing.
Retained retained_together(const Snapshot &snapshot, const DominatorTree &tree, std::span<const Address> objects);

} // namespace dnheap
