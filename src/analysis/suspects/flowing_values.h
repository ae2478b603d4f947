// Names what flows with calls: the AsyncLocal whose value a suspect is, and the pending call that carries it. The path
// from an ExecutionContext leads through the runtime's maps, which name neither. Costs find_captured_values(), if there
// is such a suspect. Throws Interrupted. Not for several threads at once.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/suspects/suspect.h"
#include "snapshot/snapshot.h"

#include <span>

namespace dnheap {

// Sets the remark of suspects that belong to what flows with calls.
void name_flowing_values(const Snapshot &snapshot, const DominatorTree &tree, std::span<Suspect> list);

} // namespace dnheap
