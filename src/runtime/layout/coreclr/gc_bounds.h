// What the header of the card table tells of runtimes that do not publish it: GCLowestAddress and GCHighestAddress, and
// workstation GC's GCHeapCardTable.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc_variable`: address of g_gcDacGlobals, see derive_gc(). Needs what derive_gc_structures() found.
void derive_gc_bounds(Derivation &derivation, Address gc_variable);

} // namespace dnheap
