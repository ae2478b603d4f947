// Derives the place of each thread's allocation context. Part of derive_thread(); see derivation.h.
#pragma once
#include "runtime/gc.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

struct ListedThread {
  Address address = 0;
  std::optional<u64> os_id = {}; // 0: has not started, or has ended; absent: unknown
};

// `gc`: reads the same descriptor. `variables`: candidates for the context of threads without one of their own. Needs
// the GC's part of the descriptor and MethodTables. Enters the way to the context, Thread.RuntimeThreadLocals (.NET 9
// and later) or Thread.AllocContext (8.0, where it is inline), and GlobalAllocContext.
void derive_thread_contexts(Derivation &derivation, const Gc &gc, std::vector<ListedThread> threads,
                            const std::vector<Address> &variables);

} // namespace dnheap
