// Opens a CoreCLR: takes the descriptor that its module publishes, completes it (core_clr_descriptor.h), and binds the
// readers to it. Some 10 ms; any thread.
#pragma once
#include "runtime/coreclr/core_clr.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// Throws Error if values that the heap walk needs are neither published nor found.
CoreClr open_core_clr(const Target &target, const Module &module,
                      std::span<const ShippedTable> tables = shipped_tables(), const RuntimeHints &hints = {});

} // namespace dnheap
