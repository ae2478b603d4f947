// HoldingFields: finds for each of some objects the field that holds it, because a programmer can change that field.
// One parallel pass over all references of the heap; 4 bytes per object asked about, and 8 for each further field that
// holds one of them. Not for several threads at once.
//
// If several fields hold an object, it counts for one of them only: the one that holds most bytes of all objects asked
// about (on a tie the one with the lower number). An object that no object holds counts for its root, and without a
// root for nobody. So sums by field add up, and do not depend on the number of threads.
#pragma once
#include "analysis/shapes/field_numbers.h"
#include "analysis/shapes/suspended_calls.h"
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

class ObjectIndex;
class ObjectGraph;

class HoldingFields {
public:
  static constexpr u32 nobody = 0;
  static constexpr const char *nobody_text = "(nobody)";

  // `asked`: the objects, in places of the snapshot's index. `bytes`: the weight of each, by its number in `asked`.
  // `among`: only these count as holders; null: all objects do. `graph`, if there is one already: only objects that
  // refer to objects asked about are read, which takes a fraction of the time if these are few. Throws Interrupted.
  HoldingFields(const Snapshot &snapshot, const ObjectIndex &asked, const std::function<u64(u32)> &bytes,
                const HeapBits *among = nullptr, const ObjectGraph *graph = nullptr);

  u32 operator[](u64 number) const { return fields_[number]; } // by number in `asked`
  // Returns "Shop.Order._code", "System.String[]", "static Shop.Order.none", "(handle:strong)" or "(nobody)"; for
  // objects that suspended calls keep "variable order of Shop.Cart.Pay", or "a variable of Shop.Cart.Pay", if all calls
  // are of one method.
  const std::string &text(u32 field);

private:
  void add_roots(const Snapshot &snapshot, const ObjectIndex &asked);

  std::string field_text(u32 number);

  const Snapshot &snapshot_;
  FieldNumbers numbers_;
  LargeArray<u32> fields_; // 0: nobody; else a field's number + 1; the roots' numbers follow
  std::vector<std::string> root_texts_;
  std::unordered_map<u32, std::string> texts_;
  std::optional<SuspendedCalls> calls_; // made when a field's name is first asked for
};

} // namespace dnheap
