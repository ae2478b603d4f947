// What a NativeAOT runtime's debug header says, as a contract descriptor with the names that .NET 11 publishes, so that
// Gc1 reads its heap as any other. What the header leaves out, or says wrong (the offsets of dac_gc_heap are not those
// of gc_heap), comes from GcDacVars itself. Some hundred loads.
#pragma once
#include "contract/descriptor.h"
#include "runtime/layout/debug_header.h"

namespace dnheap {

// Throws Error when a value is missing without which there is no heap.
ContractDescriptor describe_native_aot(const Target &target, const Module &module, const DebugHeader &header);

} // namespace dnheap
