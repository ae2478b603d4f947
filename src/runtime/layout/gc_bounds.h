// GCLowestAddress and GCHighestAddress for runtimes that do not publish them: two neighbours in g_dacTable.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc_variable`: address of g_gcDacGlobals, see derive_gc(). Needs what derive_gc_structures() found.
void derive_gc_bounds(Derivation &derivation, Address gc_variable);

} // namespace dnheap
