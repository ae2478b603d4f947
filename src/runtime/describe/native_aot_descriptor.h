// What a NativeAOT runtime says of itself as a contract descriptor with the names that .NET 11 publishes, so that Gc1
// reads its heap as any other: its own descriptor where it has one, completed by its debug header. What both leave out,
// or say wrong (the header's offsets of dac_gc_heap are not those of gc_heap), comes from GcDacVars. Some hundred
// loads.
#pragma once
#include "contract/descriptor.h"
#include "runtime/layout/nativeaot/debug_header.h"

namespace dnheap {

// Is it one of NativeAOT? RuntimeTypeSystem is then of version n1, in the first builds written as the number 1001. Only
// for modules that are not CoreCLR: any other version than CoreCLR's c1 is taken for one, so that an unknown one is an
// error that names it (contract_versions.h), not a target without a runtime.
bool is_native_aot(const ContractDescriptor &descriptor);

// `published`: empty where there is none; `header`: null where there is none. Throws Error when a value is missing
// without which there is no heap.
ContractDescriptor describe_native_aot(const Target &target, const Module &module, ContractDescriptor published,
                                       const DebugHeader *header);

} // namespace dnheap
