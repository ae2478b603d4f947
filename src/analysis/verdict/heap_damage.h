// heap_damage(): where something has overwritten objects. Looks at the places at which the walk of the heap found no
// object. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <string>

namespace dnheap {

// Returns "the heap is damaged at 0x7f10, behind a System.Byte[] of 100 elements (0x7ef0): something wrote past its
// end"; empty: the heap is sound, or an unsound place may have other reasons: memory that the dump lacks, an object
// that was just being made, a collection that was moving objects.
std::string heap_damage(const Snapshot &snapshot);

} // namespace dnheap
