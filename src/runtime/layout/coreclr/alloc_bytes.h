// Derives where an allocation context counts the bytes that it handed out, which runtimes before .NET 11 do not
// publish. A few loads per thread.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

struct ContextInUse {
  Address address = 0; // of the GCAllocContext
  u64 unused = 0;      // bytes between its pointer and its limit
};

// GCAllocContext.AllocBytes, AllocBytesLoh. `contexts`: those of threads that have one; if none has, there is nothing
// to find.
void derive_alloc_bytes(Derivation &derivation, std::span<const ContextInUse> contexts);

} // namespace dnheap
