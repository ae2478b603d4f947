// Derives where an allocation context counts the bytes that it handed out, which runtimes before .NET 11 do not
// publish. Needs the contexts of threads. A few loads per thread.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// GCAllocContext.AllocBytes, AllocBytesLoh. If no thread has a context there is nothing to find.
void derive_alloc_bytes(Derivation &derivation);

} // namespace dnheap
