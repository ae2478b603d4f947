// Which generation a blocking collection was working on when the dump was taken. No contract tells, but the heap does:
// while a collection plans, it writes in front of each group of survivors that touch (a plug), over the dead, how long
// the dead stretch before it is, how far the group will move, and its place in a tree of such (plug_and_gap in
// gcpriv.h). The walk finds no sound object there. A damaged place does not end where an object begins that is exactly
// as far from another as the first of these words says. Costs one look at each gap, and at the objects before it.
#pragma once
#include "heap/walk.h"

namespace dnheap {

// The oldest of gen0, gen1 and gen2 that holds such words; all younger ones are collected with it. Nullopt: none does,
// as the collection has not come so far, or not touched what is old. To be asked only when the GC says that its
// structures are invalid. `types`: what the calling thread uses.
std::optional<GCSegmentGeneration> planned_generation(const Heap &heap, const GapList &gaps, const Memory &memory,
                                                      TypeTable &types);

} // namespace dnheap
