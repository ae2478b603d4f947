// RankedTree: the dominator tree by ranked owners, which `retained` and others use. The tree without further hubs is
// computed once and kept with the snapshot, because one question about the tree is soon followed by more. Costs what
// ranked_owners.h and dominator_tree.h say. Not for several threads at once.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/owners/ranked_owners.h"
#include "analysis/plan.h"

#include <memory>

namespace dnheap {

struct RankedTree {
  RankedOwners owners;
  DominatorTree tree;

  // `hubs`: as for RankedOwners.
  explicit RankedTree(const Snapshot &snapshot, std::span<const std::string> hubs = {});
};

std::shared_ptr<const RankedTree> ranked_tree(const Snapshot &snapshot, std::span<const std::string> hubs = {});

// Adds to the plan the passes that a RankedTree needs.
void foresee_ranked(Plan &plan);
// The same, for verbs in which few questions need the tree.
void perhaps_ranked(Plan &plan);

} // namespace dnheap
