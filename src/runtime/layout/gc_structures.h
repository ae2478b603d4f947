// Layouts of the GC's smaller structures for .NET 5 to 10: OOM history, finalization queue, counters, free lists of
// regions, card table header. Each is tested against its own contents in the target, under all heaps; one that is not
// found is recorded as missing, never an error. Needs the values that derive_gc() found; reads a few words of each.
#pragma once
#include "runtime/gc.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc`: reads the same descriptor.
void derive_gc_structures(Derivation &derivation, const Gc &gc);

} // namespace dnheap
