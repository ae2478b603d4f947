// ObjectChain: objects of one type, or of few that alternate, linked one after the other: a list that the program links
// itself. The search for suspects meets a chain as a path that does not end, and has to know early that it is one. A
// step costs a look at the children of a place. Throws Interrupted. Not for several threads at once.
#pragma once
#include "analysis/suspects/places_in_tree.h"
#include "analysis/suspects/suspect.h"

#include <optional>
#include <span>
#include <vector>

namespace dnheap {

struct ObjectChain {
  u32 type = 0;     // the type that most of its objects have
  u64 links = 0;    // how many these are
  TreePlace last{}; // the last link
};

// Returns the index from which the types repeat to the end, or nullopt if they do not repeat long enough. Checks only
// at every 64th step.
std::optional<u64> chain_begin(std::span<const u32> types);
// Follows the line of largest children from the first of some links to the chain's end.
ObjectChain follow_chain(const PlacesInTree &in_tree, std::span<const TreePlace> links, const Watch &watch);

struct ChainSuspect {
  u64 suspect; // its index in the list
  ObjectId head, last;
};
// A chain that another owner also enters is dominated by nobody from there on, so its rest is found as a chain of its
// own. Joins such parts.
void join_chains(const ObjectGraph &graph, std::span<const ChainSuspect> chains, std::vector<Suspect> &list);

} // namespace dnheap
