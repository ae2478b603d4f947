// AlsoHeld: how many bytes of some owners' objects are also held by owners of a later rank, such as a method's
// variable, the runtime's timers or a handle. An object belongs to the first rank that reaches it, so that its owner
// does not depend on where a thread stands. But if a later rank reaches it as well, it stays alive when its owner lets
// go. Costs one search from the roots of the later ranks, by all threads, and two bits per object. Throws Interrupted.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/owners/ranked_owners.h"
#include "objects/object_graph.h"

namespace dnheap {

// A subtree of the dominator tree, and the rank of its owner.
struct HeldPlace {
  TreePlace place{};
  OwnerRank rank = OwnerRank::own;
};

struct AlsoHeld {
  u64 bytes = 0;
  OwnerRank by = OwnerRank::chance; // the rank that reaches most of `bytes`
};

// Returns one entry per place; a place that contains other places counts without these. Words on stacks (rank `chance`)
// hold nothing here.
std::vector<AlsoHeld> find_also_held(const ObjectGraph &graph, const RankedOwners &owners, const DominatorTree &tree,
                                     std::span<const HeldPlace> places, unsigned threads, const Watch &watch);

} // namespace dnheap
