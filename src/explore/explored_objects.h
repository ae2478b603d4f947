// ExploredObjects: one object as a browser looks at it: what it refers to and who refers to it, page by page, by what
// way it is held, and finding it. Referrers are found by one look at all references, in parallel, those of the objects
// asked for last are kept; ways by a breadth-first search from all roots, done once (RankedPaths). One thread.
#pragma once
#include "analysis/owners/ranked_paths.h"
#include "explore/explored_tree.h"

#include <list>

namespace dnheap::explore {

class ExploredObjects {
public:
  // `values`: may contents of strings be told?
  ExploredObjects(Snapshot &snapshot, ExploredTree &tree, bool values);

  // The object at an address, or the one that the address points into. Throws UsageError, NotFound.
  ObjectId object_of(const std::string &address);
  ordered_json object(ObjectId object);
  ordered_json references(ObjectId object, u64 from, u64 count);
  ordered_json referrers(ObjectId object, u64 from, u64 count);
  // Searches from the roots, unless that was done.
  void find_ways();
  bool knows_ways() const { return ways_ != nullptr; }
  // Throws NotFound when nothing holds it.
  ordered_json way(ObjectId object);
  // Types whose names have the text in them, fields of types that have objects, and the object at the address that it
  // is. The first search reads the fields of all types: some µs each.
  ordered_json find(const std::string &text, u64 count);

private:
  struct Referring {
    ObjectId to;
    std::vector<ObjectId> from; // ascending
  };
  const std::vector<ObjectId> &referring(ObjectId object);

  Snapshot &snapshot_;
  ExploredTree &tree_;
  const bool values_;
  std::shared_ptr<const RankedPaths> ways_;
  struct NamedField {
    std::string type, field, lower_case;
  };
  const std::vector<NamedField> &fields();
  std::optional<std::vector<NamedField>> fields_; // each where it is declared, of types that have objects
  std::list<Referring> recent_;                   // the last one asked for first
};

} // namespace dnheap::explore
