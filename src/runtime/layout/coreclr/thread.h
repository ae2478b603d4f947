// Derives the thread list, and, by thread_contexts.h, the place of each thread's allocation context.
#pragma once
#include "runtime/gc.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc_variable`: address of g_gcDacGlobals, by which the table of debugger addresses (g_dacTable) is found; 0 if
// unknown. `gc`: reads the same descriptor, whose GC part must be there. Enters the global ThreadStore, the fields of
// ThreadStore and Thread, and the way to the allocation context: Thread.RuntimeThreadLocals (.NET 9 and later) or
// Thread.AllocContext (8.0, where it is inline); and GlobalAllocContext.
void derive_thread(Derivation &derivation, const Gc &gc, Address gc_variable);

} // namespace dnheap
