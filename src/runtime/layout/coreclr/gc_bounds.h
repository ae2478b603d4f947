// Derives from the header of the card table the values that runtimes before .NET 11 do not publish: GCLowestAddress and
// GCHighestAddress, and workstation GC's GCHeapCardTable.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc_variable`: address of g_gcDacGlobals, see derive_gc(). Needs the values that derive_gc_structures() found.
void derive_gc_bounds(Derivation &derivation, Address gc_variable);

} // namespace dnheap
