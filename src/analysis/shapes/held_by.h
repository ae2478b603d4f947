// HeldBy: names the field that holds an object. For inspectors: HoldingFields for objects given by address. Garbage
// does not count as a holder, so an object that only garbage refers to has none; but if no root at all is known, all
// objects count as holders. Inner parts of the objects themselves (a timer's inner objects, a delegate's list) do not
// count as holders either. One parallel pass over all references of the heap, and Snapshot::live(); a bit per possible
// object address, and some 16 bytes per object. Throws Interrupted. Not for several threads at once.
#pragma once
#include "analysis/shapes/holding_fields.h"
#include "analysis/shapes/typed_objects.h"
#include "objects/object_index.h"

namespace dnheap {

struct HeldObject {
  Address address = 0;
  u64 bytes = 0; // its weight: if several fields hold it, it counts for the one that holds most
};

// Gives each object the same weight; worth_their_size() gives it its size in the heap.
std::vector<HeldObject> worth_the_same(const std::vector<TypedObject> &objects);
std::vector<HeldObject> worth_their_size(const Snapshot &snapshot, const std::vector<TypedObject> &objects);

class HeldBy {
public:
  // `parts`: in any order. Addresses that are no object of the heap have no holder. `graph`: as for HoldingFields; with
  // it live objects are not computed, and garbage counts as a holder too.
  HeldBy(const Snapshot &snapshot, const std::vector<HeldObject> &objects, const std::vector<Address> &parts = {},
         const ObjectGraph *graph = nullptr);

  // Returns the field's number; text() names it as HoldingFields::text() does.
  u32 field(Address object) const;
  const std::string &text(u32 field) { return fields_.text(field); }
  const std::string &of(Address object) { return text(field(object)); }

private:
  const ObjectIndex asked_;
  HoldingFields fields_;
};

} // namespace dnheap
