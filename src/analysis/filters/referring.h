// --refers-to: finds objects that refer to an object of a given generation, or of a younger generation than their own.
// A collection of that generation must look at these objects besides its roots. One parallel look at every reference of
// the heap; one bit per possible object address.
#pragma once
#include "heap/heap_bits.h"
#include "snapshot/snapshot.h"

#include <string>

namespace dnheap {

// `word`: a generation, or "younger": gen0 is younger than gen1, and gen1 is younger than gen2, loh and poh. Dependent
// handles count as references. Throws UsageError if it is neither.
HeapBits objects_referring_to(const Snapshot &snapshot, const std::string &word);

} // namespace dnheap
