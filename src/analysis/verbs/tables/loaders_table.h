// The table of loader heaps in `account`: the runtime's memory by the assemblies that are unloaded together.
#pragma once
#include "analysis/process/account_map.h"
#include "report/answer.h"

namespace dnheap {

// One row for everything that is never unloaded, one for each group of collectible contexts with assemblies of the same
// names: "loaders". Throws Error, Interrupted. Not for several threads at once.
report::Table loaders_table(const Snapshot &snapshot, const AccountMap &map, bool in_text);

} // namespace dnheap
