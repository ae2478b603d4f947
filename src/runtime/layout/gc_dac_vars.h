// GcDacVars: the table in which the GC of .NET 5 to 10 keeps the addresses of its variables for the debugger. From it
// the GC contract's globals and types are derived, under the names that .NET 11 publishes. dotnet/runtime
// src/coreclr/gc/gcinterface.dacvars.def, gcinterface.dac.h, dac_gcheap_fields.h, dac_generation_fields.h.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// Finds the table in the runtime's data by its signature, confirmed by the pointer to it (g_gcDacGlobals) that follows
// it directly, and enters all that it tells. Returns the address of the variable g_gcDacGlobals. Throws Error when
// there is no table, or no single one.
Address derive_gc(Derivation &derivation);

// The same where something else says that the table lies in [table, end): NativeAOT's debug header. What is in the
// descriptor already stays, if the GC's own lists do not say otherwise.
void derive_gc_at(Derivation &derivation, Address table, Address end);

} // namespace dnheap
