// Describes a NativeAOT runtime as a contract descriptor with the names that .NET 11 publishes, so that Gc1 reads its
// heap as any other. The values come from the runtime's own descriptor, if it has one, then from its debug header.
// Values that both lack, or that are wrong there (the header's offsets of dac_gc_heap are not those of gc_heap), come
// from GcDacVars. Some hundred loads.
#pragma once
#include "contract/descriptor.h"
#include "runtime/layout/nativeaot/debug_header.h"

namespace dnheap {

// True if it describes a NativeAOT runtime: RuntimeTypeSystem has version n1, which the first builds write as the
// number 1001. Only for modules that are not CoreCLR: any version except CoreCLR's c1 counts as NativeAOT's, so that an
// unknown one becomes an error with its name (contract_versions.h), not a target without a runtime.
bool is_native_aot(const ContractDescriptor &descriptor);

// `published`: empty if there is none; `header`: null if there is none. Throws Error if a value is missing without
// which there is no heap.
ContractDescriptor describe_native_aot(const Target &target, const Module &module, ContractDescriptor published,
                                       const DebugHeader *header);

} // namespace dnheap
