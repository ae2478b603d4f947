// --refers-to: which objects refer to one of a generation, or to a younger one than they are: what a collection of that
// generation has to look at besides its roots. One parallel look at every reference of the heap; one bit for each place
// of it.
#pragma once
#include "heap/heap_bits.h"
#include "snapshot/snapshot.h"

#include <string>

namespace dnheap {

// `word`: a generation, or "younger": gen0 is younger than gen1, that than gen2, loh and poh. Dependent handles count
// as references. Throws UsageError when it is neither.
HeapBits objects_referring_to(Snapshot &snapshot, const std::string &word);

} // namespace dnheap
