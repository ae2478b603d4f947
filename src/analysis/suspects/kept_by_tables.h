// Says of suspects that dependent handles keep them, and by which ConditionalWeakTable: whoever reads the path from an
// owner to its objects finds no field there. Costs what weak_tables.h says. Throws Interrupted. Not for several threads
// at once.
#pragma once
#include "analysis/suspects/suspect.h"
#include "snapshot/snapshot.h"

#include <span>

namespace dnheap {

// Sets the remark where the handles' key is an object on the path, the object to which the elements belong, or each
// element itself.
void name_weak_tables(const Snapshot &snapshot, std::span<Suspect> list);

} // namespace dnheap
