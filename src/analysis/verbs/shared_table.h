// The table `shared` of `retained`: what no single owner would free: large pieces each by themselves, all others by the
// exact set of owners that hold them together, with the largest of them, and how many there are. For owners of any
// kind, whose names the caller knows.
#pragma once
#include "algorithms/shared_pieces.h"
#include "report/table.h"
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

// Costs SharedPieces.
report::Table shared_table(Snapshot &snapshot, const DominatorTree &tree, const Owners &owners,
                           const std::function<std::string(OwnerId)> &name);

} // namespace dnheap
