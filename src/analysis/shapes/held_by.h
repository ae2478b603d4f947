// HeldBy: by which field each of some objects is held, in words, for inspectors: HoldingFields of objects named by
// their addresses. Garbage holds nothing: what only garbage refers to has nobody (where no root at all is known, all
// objects count as holders). Nor do parts that belong to the objects themselves (a timer's inner objects, a delegate's
// list). One parallel pass over all references of the heap, and Snapshot::live(); a bit per place of the heap, and some
// 16 bytes per object. Throws Interrupted. One thread.
#pragma once
#include "analysis/shapes/holding_fields.h"
#include "analysis/shapes/typed_objects.h"
#include "objects/object_index.h"

namespace dnheap {

struct HeldObject {
  Address address = 0;
  u64 bytes = 0; // what it is worth: of several fields that which holds most counts
};

// Objects that are worth the same each, or what they take in the heap.
std::vector<HeldObject> worth_the_same(const std::vector<TypedObject> &objects);
std::vector<HeldObject> worth_their_size(Snapshot &snapshot, const std::vector<TypedObject> &objects);

class HeldBy {
public:
  // `parts`: in any order. What is no object of the heap has no holder. `graph`: as of HoldingFields; with it what is
  // alive is not asked for, and garbage counts as well.
  HeldBy(Snapshot &snapshot, const std::vector<HeldObject> &objects, const std::vector<Address> &parts = {},
         const ObjectGraph *graph = nullptr);

  // As HoldingFields::text(): the field's number, and what it is called.
  u32 field(Address object) const;
  const std::string &text(u32 field) { return fields_.text(field); }
  const std::string &of(Address object) { return text(field(object)); }

private:
  const ObjectIndex asked_;
  HoldingFields fields_;
};

} // namespace dnheap
