// RankedTree: the dominator tree by ranked owners, which `retained` shows and others count by. The one without further
// hubs is worked out once and kept with the snapshot, since whoever asks one question of the tree soon asks more. Costs
// what ranked_owners.h and dominator_tree.h say. One thread.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/owners/ranked_owners.h"
#include "analysis/plan.h"

#include <memory>

namespace dnheap {

struct RankedTree {
  RankedOwners owners;
  DominatorTree tree;

  // `hubs`: as RankedOwners takes them.
  explicit RankedTree(Snapshot &snapshot, std::span<const std::string> hubs = {});
};

std::shared_ptr<const RankedTree> ranked_tree(Snapshot &snapshot, std::span<const std::string> hubs = {});

// What making one takes.
void foresee_ranked(Plan &plan);
// The same where few questions of the kind make one.
void perhaps_ranked(Plan &plan);

} // namespace dnheap
