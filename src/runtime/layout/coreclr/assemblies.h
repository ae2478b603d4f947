// Derives how an application's assemblies, their generic types and their LoaderAllocators are found. Needs the
// MethodTables derived. See derivation.h.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc_variable`: the address of g_gcDacGlobals, or 0.
void derive_assemblies(Derivation &derivation, Address gc_variable);

} // namespace dnheap
