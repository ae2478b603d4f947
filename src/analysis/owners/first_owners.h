// FirstOwners: the owner that the way to an object begins with, for who asks about many objects: those that no single
// owner holds, say. The same as RankedPaths::find tells, but each object on the ways is climbed over once. Costs
// RankedPaths, and 4 bytes per object of a search while this lives. One thread.
#pragma once
#include "analysis/owners/ranked_paths.h"
#include "base/host/large_array.h"

#include <unordered_map>

namespace dnheap {

// What several owners hold goes by the first of them: "static Shop.Undo.Last and others".
inline constexpr const char *and_others = " and others";

class FirstOwners {
public:
  // `tree`: where it is there in any case, as RankedPaths takes it.
  explicit FirstOwners(Snapshot &snapshot, std::shared_ptr<const RankedTree> tree = nullptr);

  // Null: nothing holds it. Valid as long as this.
  const RankedOwners::Owner *of(ObjectId object);

private:
  struct Search {
    const ShortestPaths *paths;
    LargeArray<u32> owner_of; // 1 + the owner, of objects that a way led over
  };
  OwnerId climb(Search &search, ObjectId object);

  Snapshot &snapshot_;
  const std::shared_ptr<const RankedPaths> paths_;
  const std::vector<OwnerRank> ranks_;
  std::vector<Search> searches_;
  std::unordered_map<u32, RankedOwners::Owner> owners_;
};

} // namespace dnheap
