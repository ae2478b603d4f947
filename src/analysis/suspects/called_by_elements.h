// What the elements of a suspect call. A library's types (delegates, timers, registrations, continuations) do not show
// whose memory they hold; the methods that they call do, and the objects on which these are called. Reads at most
// 65,536 elements, evenly spread, and of each no more objects than a wrapper has. Throws Interrupted. Not for several
// threads at once.
#pragma once
#include "algorithms/dominator_tree.h"
#include "objects/object_graph.h"
#include "snapshot/snapshot.h"

#include <span>
#include <string>

namespace dnheap {

// Returns words for objects of one type below a place of the tree: "which call Shop.Cart.OnChanged", "most of which
// call a lambda in Run of Shop.Jobs, whose closure holds Shop.Job (job)". Empty if fewer than two thirds of them call a
// method of the program and hold most of their bytes by that. `without`: ascending places below which nobody looks.
std::string called_by_elements(const Snapshot &snapshot, const DominatorTree &tree, TreePlace top,
                               std::span<const TreePlace> without, TypeId type);

} // namespace dnheap
