// Finds the generation that a blocking collection was working on when the dump was taken. No contract publishes it, but
// the heap shows it. While a collection plans, it overwrites the dead objects before each group of adjacent survivors
// (a plug) with some words (heap/plug_words.h). The walk finds no valid object there. A damaged place is not mistaken
// for the words of a plug: an object would have to begin where the place ends, and another one exactly as far before
// that as the first of these words, the length of the dead stretch, says. Costs one look at each gap, and at the
// objects before it.
#pragma once
#include "heap/walk.h"

namespace dnheap {

// Returns the oldest of gen0, gen1 and gen2 that has words of plugs; all younger ones are collected with it. Nullopt:
// no generation has them, as the collection had not come so far, or had not touched old objects. Call it only if the GC
// says that its structures are invalid. `types` belongs to the calling thread.
std::optional<GCSegmentGeneration> planned_generation(const Heap &heap, const GapList &gaps, const Memory &memory,
                                                      TypeTable &types);

} // namespace dnheap
