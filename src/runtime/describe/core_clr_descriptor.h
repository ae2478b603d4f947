// Completes the contract descriptor of a CoreCLR. Targets of .NET 8 publish no values, those of 9 and 10 lack the GC's
// and more. Missing values are derived from memory, under the names that .NET 11 publishes, so that one reader per
// contract serves all versions. This file connects layout/, which finds values, with the readers, which show what a
// value leads to. Costs some 10 ms; reads the runtime's data, its thread list and a few MethodTables. Values that
// cannot be derived stay absent and are explained in descriptor.missing.
#pragma once
#include "contract/descriptor.h"
#include "runtime/gc.h"
#include "runtime/layout/derivation.h"
#include "target/target.h"

namespace dnheap {

// `published`: the descriptor parsed from the target; empty if there is none. `runtime`: the module of the runtime.
// `gc_readers`: for versions of the GC contract that dnheap does not know. Throws Error if not even the GC can be
// found.
ContractDescriptor derive_descriptor(const Target &target, const Module &runtime, ContractDescriptor published,
                                     std::span<const ShippedTable> tables = shipped_tables(),
                                     std::span<const GcReader> gc_readers = {});

} // namespace dnheap
