// MemoryClaims: which part of a process says of which memory that it is its own: the runtime's records, threads,
// malloc, modules, the system. Apart from the counting, so that a new kind of memory is one claim here and a place in
// the order of precedence (claim_order.h). Costs what the records say, and a walk over malloc's chunks. Not for several
// threads at once.
#pragma once
#include "algorithms/coloring.h"
#include "analysis/process/account_map.h"
#include "analysis/process/mapped_places.h"

#include <span>

namespace dnheap {

// Makes all claims to `places`, which `coloring` has. Sets in `out` what was found on the way: malloc's arenas, the
// other allocators, the pieces of each class, and notes on what could not be read.
void claim_memory(const Snapshot &snapshot, std::span<const MappedPlace> places, Coloring &coloring, AccountMap &out);

} // namespace dnheap
