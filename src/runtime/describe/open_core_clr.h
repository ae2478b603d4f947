// Opens a CoreCLR: what its module publishes of itself, completed (core_clr_descriptor.h), and the readers bound to
// that. Some 10 ms; any thread.
#pragma once
#include "runtime/coreclr/core_clr.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// Throws Error when what is needed for walking the heap is neither published nor found.
CoreClr open_core_clr(const Target &target, const Module &module,
                      std::span<const ShippedTable> tables = shipped_tables(), const RuntimeHints &hints = {});

} // namespace dnheap
