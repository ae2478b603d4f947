// retained_by_each: what would be freed if all objects of a set went, for up to five sets that have no object in
// common, exactly as RetainedBySets does it set by set. One search answers for all: first it goes around all sets; what
// it does not reach so is searched once more, with a byte per object that says without which sets the object is
// reached. An object is looked at again for each set that it turns out not to need, so the worst case is as many
// searches as there are sets. All threads search.
#pragma once
#include "algorithms/dominator_tree.h"
#include "base/host/large_array.h"
#include "base/watch.h"

namespace dnheap {

inline constexpr u32 most_sets_at_once = 5;

// `set_of`: by object, 0 for none, or 1 + the number of its set, which is less than `sets`. The search works in it.
// Throws Interrupted.
std::vector<Retained> retained_by_each(const Edges &edges, const ObjectSizes &sizes, const Owners &owners,
                                       LargeArray<u8> set_of, u32 sets, unsigned threads, const Watch &watch);

} // namespace dnheap
