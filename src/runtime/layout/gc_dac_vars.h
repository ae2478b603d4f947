// GcDacVars: the table in which the GC of .NET 5 to 10 keeps the addresses of its variables for the debugger. The GC
// contract's globals and types are derived from it, under the names that .NET 11 publishes. dotnet/runtime
// src/coreclr/gc/gcinterface.dacvars.def, gcinterface.dac.h, dac_gcheap_fields.h, dac_generation_fields.h.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// Finds the table in the runtime's data by its signature. The variable g_gcDacGlobals, which follows the table directly
// and points at it, confirms the result. Enters all values of the table. Returns the address of the variable
// g_gcDacGlobals. Throws Error if there is no table, or more than one.
Address derive_gc(Derivation &derivation);

// Does the same if another source (NativeAOT's debug header) shows that the table lies in [table, end). Values that are
// in the descriptor already stay, unless the GC's own lists contradict them.
void derive_gc_at(Derivation &derivation, Address table, Address end);

} // namespace dnheap
