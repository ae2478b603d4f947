// AlsoHeld: how much of what some owners hold others hold, too, whose rank is behind theirs: a method's variable, the
// runtime's timers, a handle. Ownership goes by rank, so that it is the same wherever a thread stands; but what such a
// one reaches stays when the owner lets go. One search from the roots of those ranks, all threads; two bits per object.
// Throws Interrupted.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/owners/ranked_owners.h"
#include "objects/object_graph.h"

namespace dnheap {

// A stretch of the tree, and the rank of who holds it.
struct HeldPlace {
  TreePlace place{};
  OwnerRank rank = OwnerRank::own;
};

struct AlsoHeld {
  u64 bytes = 0;
  OwnerRank by = OwnerRank::chance; // the rank that most of that is reached from
};

// Of each of `places`, without what other ones inside of it have. Words on stacks hold nothing that others do.
std::vector<AlsoHeld> find_also_held(const ObjectGraph &graph, const RankedOwners &owners, const DominatorTree &tree,
                                     std::span<const HeldPlace> places, unsigned threads, const Watch &watch);

} // namespace dnheap
