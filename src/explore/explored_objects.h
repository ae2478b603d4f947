// ExploredObjects: one object as a browser shows it: its references and referrers, page by page, the path that holds
// it, and search. Referrers are found by one look at all references, in parallel; those of the most recent objects are
// cached. Paths come from a breadth-first search from all roots, done once (RankedPaths). Not for several threads at
// once.
#pragma once
#include "analysis/owners/ranked_paths.h"
#include "explore/explored_tree.h"

#include <list>

namespace dnheap::explore {

class ExploredObjects {
public:
  // `values`: show contents of strings.
  ExploredObjects(const Snapshot &snapshot, ExploredTree &tree, bool values);

  // Returns the object at an address, or the one that the address points into. Throws UsageError, NotFound.
  ObjectId object_of(const std::string &address);
  ordered_json object(ObjectId object);
  ordered_json references(ObjectId object, u64 from, u64 count);
  ordered_json referrers(ObjectId object, u64 from, u64 count);
  // Searches from the roots, unless that is done already.
  void find_ways();
  bool knows_ways() const { return ways_ != nullptr; }
  // Throws NotFound if nothing holds it.
  ordered_json way(ObjectId object);
  // Finds types whose names contain the text, fields of types that have objects, and the object if the text is an
  // address. The first search reads the fields of all types: some µs each.
  ordered_json find(const std::string &text, u64 count);

private:
  struct Referring {
    ObjectId to;
    std::vector<ObjectId> from; // ascending
  };
  const std::vector<ObjectId> &referring(ObjectId object);

  const Snapshot &snapshot_;
  ExploredTree &tree_;
  const bool values_;
  std::shared_ptr<const RankedPaths> ways_;
  struct NamedField {
    std::string type, field, lower_case;
  };
  const std::vector<NamedField> &fields();
  std::optional<std::vector<NamedField>> fields_; // each at its declaring type, for types that have objects
  std::list<Referring> recent_;                   // most recent first
};

} // namespace dnheap::explore
