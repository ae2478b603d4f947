// Holding: the dominator tree that `retained` shows, by ranked owners or (--plain) without ranks, with the names of
// owners and types in it; all code that counts how much owners and types hold uses it. Costs the tree, and with ranks
// what ranked_tree.h says. Not for several threads at once.
#pragma once
#include "algorithms/owner_places.h"
#include "analysis/filters/type_filter.h"
#include "analysis/owners/ranked_tree.h"
#include "objects/object_graph.h"

namespace dnheap {

class Holding {
public:
  Holding(const Snapshot &snapshot, const Question &question);

  const DominatorTree &tree() const { return ranked_ ? ranked_->tree : snapshot_.dominators(); }
  u32 owner_count() const;
  RankedOwners::Owner owner(OwnerId id) const; // numbered as in the tree
  Owners owners() const;
  bool is_plain() const { return !ranked_; }
  const Snapshot &snapshot() { return snapshot_; }
  Retained all() const { return all_; }
  // One line per owner; shared objects, unreachable objects and frozen objects have lines with names of their own.
  // Largest first.
  struct OwnerLine {
    Retained retained;
    std::string kind, name, source;
    bool conservative = false;
    const char *rank = nullptr; // null without ranks, and for lines that are not an owner
  };
  std::vector<OwnerLine> owner_lines();
  u32 type_count() const { return types_.size(); }
  TypeId type(ObjectId object) const { return graph_.type(object); }
  void prefetch_type(ObjectId object) const { graph_.prefetch_type(object); }
  Address method_table(TypeId type) const { return types_[type].method_table; }
  const std::string &name(TypeId type) { return snapshot_.runtime().types().name(method_table(type)); }
  std::string assembly(TypeId type) { return snapshot_.runtime().types().assembly(method_table(type)); }
  Address address(ObjectId object) const;
  const TypeFilter &filter() const { return filter_; }
  bool passes(TypeId type) { return filter_.everything() || filter_.passes(name(type)); }

  // Returns the name of the owner above a place.
  std::string owner_above(TreePlace at) const;

  // Returns the size of the objects in frozen segments (which the GC never collects) that nothing else holds. Looks at
  // each object in these segments.
  Retained frozen() const;

private:
  const Snapshot &snapshot_;
  const ObjectGraph &graph_;
  std::shared_ptr<const RankedTree> ranked_; // null: --plain
  const HeapTypes &types_;
  TypeFilter filter_;
  Retained all_;
  std::optional<OwnerPlaces> owner_places_; // made when first needed
};

} // namespace dnheap
