// Layout of the handle tables for .NET 5 to 10. It depends on one number: how many kinds of handles the tables have
// room for (12 in 8.0 and 9.0, 13 in 10.0), which is found by each segment's pointer back to its table. Reads a few
// words of each table; a value that is not found is recorded as missing, never an error. Structures:
// gc/handletablepriv.h.
#pragma once
#include "runtime/gc.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// Needs the values that derive_gc() found. `gc`: reads the same descriptor.
void derive_handle_table(Derivation &derivation, const Gc &gc);

} // namespace dnheap
