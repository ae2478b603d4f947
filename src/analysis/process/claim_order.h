// ClaimOrder: which claim to a byte counts if several kinds of memory could have it. Colours of Coloring stand for the
// claims, since the lowest colour wins there: who claims makes them, who counts reads them back. A few comparisons. Any
// thread.
#pragma once
#include "analysis/process/memory_class.h"
#include "base/integers.h"

namespace dnheap {

// A segment's colour: objects and the gaps between them. The tag is the segment, and the walk finds the classes.
inline constexpr u32 colour_of_segment = 0;
// Returns the colour of a claim of a class. A less certain claim comes after all certain ones.
u32 colour_of(MemoryClass memory, bool is_guess = false);
// Returns the class of a colour; Coloring::none is not_identified.
MemoryClass class_of(u32 colour);

} // namespace dnheap
