// Holding: the dominator tree that `retained` shows, by ranked owners or (--plain) by all alike, with the names of what
// stands in it. Costs the tree, and where owners have ranks what ranked_owners.h says. One thread.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/ranked_owners.h"
#include "analysis/type_filter.h"
#include "objects/object_graph.h"

namespace dnheap {

class Holding {
public:
  Holding(Snapshot &snapshot, const Question &question);

  const DominatorTree &tree() const { return ranked_tree_ ? *ranked_tree_ : snapshot_.dominators(); }
  u32 owner_count() const;
  RankedOwners::Owner owner(OwnerId id) const; // as they are in the tree
  Owners owners() const;
  bool is_plain() const { return !ranked_; }
  Snapshot &snapshot() { return snapshot_; }
  Retained all() const { return all_; }
  Retained frozen(); // in segments that are never collected, and nothing else is seen to hold it
  u32 type_count() const { return types_.size(); }
  TypeId type(ObjectId object) const { return graph_.type(object); }
  Address method_table(TypeId type) const { return types_[type].method_table; }
  const std::string &name(TypeId type) { return snapshot_.runtime().types().name(method_table(type)); }
  std::string assembly(TypeId type) { return snapshot_.runtime().types().assembly(method_table(type)); }
  Address address(ObjectId object) const;
  const TypeFilter &filter() const { return filter_; }
  bool passes(TypeId type) { return filter_.everything() || filter_.passes(name(type)); }

  // The owner above a place. Owners stand below the virtual root only: no climb, which may be as long as a list.
  std::string owner_above(TreePlace at) const;

private:
  Snapshot &snapshot_;
  const ObjectGraph &graph_;
  std::optional<RankedOwners> ranked_; // none: the plain tree is asked for
  std::optional<DominatorTree> ranked_tree_;
  const HeapTypes &types_;
  TypeFilter filter_;
  Retained all_;
  std::vector<std::pair<TreePlace, OwnerId>> owner_places_; // ascending
};

} // namespace dnheap
