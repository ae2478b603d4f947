// Derives the ways to an application's assemblies and their generic types. See derivation.h.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// Reference points for all other values; 0: unknown.
struct CoreTypes {
  Address string = 0, object = 0; // MethodTables
  Address module = 0;             // CoreLib's
};

// Reads them with the descriptor's part on MethodTables.
CoreTypes find_core_types(const Derivation &derivation);

// Needs MethodTables and their classes; false: these are unknown. `gc_variable`: the address of g_gcDacGlobals, or 0.
bool derive_assemblies(Derivation &derivation, Address gc_variable);

} // namespace dnheap
