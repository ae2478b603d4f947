// OwnerPlaces: finds the owner that holds a place of a dominator tree. Owners are always children of the virtual root,
// so a binary search is enough. A climb from place to place could take a million steps in a linked list. Costs 8 bytes
// per owner and a binary search. Immutable; any thread.
#pragma once
#include "algorithms/dominator_tree.h"

#include <algorithm>

namespace dnheap {

class OwnerPlaces {
public:
  // `owners` is the tree's number of owners. The tree must outlive this object.
  OwnerPlaces(const DominatorTree &tree, u32 owners) : tree_(tree) {
    for (u32 i = 0; i < owners; ++i)
      places_.emplace_back(tree.place(OwnerId{i}), OwnerId{i});
    std::sort(places_.begin(), places_.end());
  }
  // Nullopt if several owners share the object.
  std::optional<OwnerId> above(TreePlace at) const {
    const auto after = std::upper_bound(places_.begin(), places_.end(), std::pair(at, OwnerId{~u32{0}}));
    if (after == places_.begin() || tree_.end(std::prev(after)->first) <= at)
      return std::nullopt;
    return std::prev(after)->second;
  }

private:
  const DominatorTree &tree_;
  std::vector<std::pair<TreePlace, OwnerId>> places_; // ascending
};

} // namespace dnheap
