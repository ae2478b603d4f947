// Derives the fields in which an allocation context counts the bytes that it handed out; runtimes before .NET 11 do not
// publish them. A few loads per thread.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

struct ContextInUse {
  Address address = 0; // of the GCAllocContext
  u64 unused = 0;      // bytes between its pointer and its limit
};

// GCAllocContext.AllocBytes, AllocBytesLoh. `contexts` are those of threads that have one; without any, there is
// nothing to find.
void derive_alloc_bytes(Derivation &derivation, std::span<const ContextInUse> contexts);

} // namespace dnheap
