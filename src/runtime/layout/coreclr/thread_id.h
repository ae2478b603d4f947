// Derives the offset in a Thread of the number that locks store for it (Environment.CurrentManagedThreadId).
#pragma once
#include "runtime/facts/thread_data.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc_variable`: address of g_gcDacGlobals, by which g_dacTable is found; 0 if unknown. `threads`: all that the runtime
// lists. Enters Thread.Id, which .NET 9 and later publish.
void derive_thread_id(Derivation &derivation, std::span<const ThreadData> threads, Address gc_variable);

} // namespace dnheap
