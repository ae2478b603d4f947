// The table `shared` of `retained`: objects that no single owner would free: large pieces singly, the others by the
// exact set of owners that hold them, with the largest piece and their number. Works for owners of any kind, whose
// names the caller knows.
#pragma once
#include "algorithms/shared_pieces.h"
#include "report/table.h"
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

// Costs SharedPieces.
report::Table shared_table(const Snapshot &snapshot, const DominatorTree &tree, const Owners &owners,
                           const std::function<std::string(OwnerId)> &name);

} // namespace dnheap
