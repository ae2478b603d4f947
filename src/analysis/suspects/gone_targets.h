// Counts the WeakReferences in a subtree of the dominator tree whose targets are gone: a look at each place of the
// subtree, and for each WeakReference a read of its handle. Throws Interrupted. Not for several threads at once.
#pragma once
#include "algorithms/dominator_tree.h"
#include "snapshot/snapshot.h"

#include <string>

namespace dnheap {

// `type`: the full name of the WeakReferences' type.
u64 count_gone_targets(const Snapshot &snapshot, const DominatorTree &tree, TreePlace top, const std::string &type);

} // namespace dnheap
