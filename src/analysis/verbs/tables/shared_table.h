// The table `shared` of `retained`: objects that stay alive if any single owner lets go. Large pieces have a row each;
// all other pieces are summed up by the exact set of owners that hold them, with their number and the largest one.
// Works for owners of any kind; the caller names them.
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
