#include "analysis/owners/first_owners.h"

#include "objects/object_graph.h"

namespace dnheap {

FirstOwners::FirstOwners(const Snapshot &snapshot, std::shared_ptr<const RankedTree> tree)
    : snapshot_(snapshot), paths_(ranked_paths(snapshot, std::move(tree))), ranks_(ranks_of_owners(snapshot)) {
  for (const std::optional<ShortestPaths> &search : paths_->searches())
    if (search)
      searches_.push_back({&*search, LargeArray<u32>(snapshot.graph().objects())});
}

OwnerId FirstOwners::climb(Search &search, ObjectId object) {
  std::vector<u32> way;
  u32 owner = 0;
  for (ObjectId at = object; !owner;) {
    way.push_back(static_cast<u32>(at));
    const std::optional<ObjectId> parent = search.paths->parent(at);
    if (parent) {
      at = *parent;
      owner = search.owner_of[static_cast<u32>(at)];
    } else {
      owner = 1 + static_cast<u32>(*search.paths->owner(at));
    }
  }
  for (u32 one : way)
    search.owner_of[one] = owner;
  return OwnerId{owner - 1};
}

const RankedOwners::Owner *FirstOwners::of(ObjectId object) {
  for (Search &search : searches_) {
    if (!search.paths->met(object))
      continue;
    const u32 known = search.owner_of[static_cast<u32>(object)];
    const OwnerId id = known ? OwnerId{known - 1} : climb(search, object);
    const auto [at, is_new] = owners_.try_emplace(static_cast<u32>(id));
    if (is_new) {
      const WayOwner owner = way_owner(snapshot_, id);
      at->second = {rank_of_way(ranks_, id), owner.name, owner.source, owner.kind};
    }
    return &at->second;
  }
  return nullptr;
}

} // namespace dnheap
