// Derives how an application's assemblies and their generic types are found. See derivation.h.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// What everything else is measured against; 0: not known.
struct CoreTypes {
  Address string = 0, object = 0; // MethodTables
  Address module = 0;             // CoreLib's
};

// By the descriptor's part on MethodTables.
CoreTypes find_core_types(const Derivation &derivation);

// Needs MethodTables and their classes; false: these are not known. `gc_variable`: the address of g_gcDacGlobals, or 0.
bool derive_assemblies(Derivation &derivation, Address gc_variable);

} // namespace dnheap
