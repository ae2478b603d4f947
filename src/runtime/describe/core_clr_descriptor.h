// Completes the contract descriptor of a CoreCLR: whatever the target does not publish (all of .NET 8; the GC, and
// more, of 9 and 10) is derived from its memory under the names that .NET 11 publishes, so that one reader per contract
// serves them all. Here layout/, which finds values, and the readers, which show what a value leads to, come together.
// Costs some 10 ms; reads the runtime's data, its thread list and a few MethodTables. What cannot be derived stays
// absent and is explained in descriptor.missing.
#pragma once
#include "contract/descriptor.h"
#include "runtime/gc.h"
#include "runtime/layout/derivation.h"
#include "target/target.h"

namespace dnheap {

// `published`: what was parsed from the target; empty if nothing. `runtime`: the module of the runtime. `gc_readers`:
// of versions of the GC contract that dnheap does not know. Throws Error when not even the GC can be found.
ContractDescriptor derive_descriptor(const Target &target, const Module &runtime, ContractDescriptor published,
                                     std::span<const ShippedTable> tables = shipped_tables(),
                                     std::span<const GcReader> gc_readers = {});

} // namespace dnheap
