// FirstOwners: the owner at the beginning of the path to an object, for callers that ask about many objects, such as
// all objects that several owners share. Gives the same answers as RankedPaths::find, but visits each object on the
// paths only once. Costs RankedPaths, and 4 bytes per object of each search as long as this object lives. Not for
// several threads at once.
#pragma once
#include "analysis/owners/ranked_paths.h"
#include "base/host/large_array.h"

#include <unordered_map>

namespace dnheap {

// Objects that several owners hold are named after the first of them: "static Shop.Undo.Last and others".
inline constexpr const char *and_others = " and others";

class FirstOwners {
public:
  // `tree`: given if the caller has it in any case, as for RankedPaths.
  explicit FirstOwners(const Snapshot &snapshot, std::shared_ptr<const RankedTree> tree = nullptr);

  // Returns the first owner, or null if nothing holds the object. Valid as long as this.
  const RankedOwners::Owner *of(ObjectId object);

private:
  struct Search {
    const ShortestPaths *paths;
    LargeArray<u32> owner_of; // 1 + the owner, for objects on the paths climbed so far; 0: not yet known
  };
  OwnerId climb(Search &search, ObjectId object);

  const Snapshot &snapshot_;
  const std::shared_ptr<const RankedPaths> paths_;
  const std::vector<OwnerRank> ranks_;
  std::vector<Search> searches_;
  std::unordered_map<u32, RankedOwners::Owner> owners_;
};

} // namespace dnheap
