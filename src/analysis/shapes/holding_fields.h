// HoldingFields: which field holds each of some objects, so that waste can be named by what a programmer changes. One
// parallel pass over all references of the heap; 4 bytes per object that is asked about, and 8 for each further field
// that holds one of them. Not for several threads.
//
// An object that several fields hold counts with one of them only: with that which, of all, holds most bytes of those
// asked about (then the lower number). One that no object holds counts with its root, and where there is none, with
// nobody. So sums by field close, and do not depend on the number of threads.
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

  // `asked`: the objects, in places of the snapshot's index. `bytes`: what each is worth, by its number in `asked`.
  // `among`: only these count as holders; null: all objects do. `graph`, if there is one already: only objects that
  // refer to what is asked about are read, which for few of these takes a fraction of the time. Throws Interrupted.
  HoldingFields(Snapshot &snapshot, const ObjectIndex &asked, const std::function<u64(u32)> &bytes,
                const HeapBits *among = nullptr, const ObjectGraph *graph = nullptr);

  u32 operator[](u64 number) const { return fields_[number]; } // by number in `asked`
  // "Shop.Order._code", "System.String[]", "static Shop.Order.none", "(handle:strong)", "(nobody)"; of what suspended
  // calls keep "variable order of Shop.Cart.Pay", or "a variable of Shop.Cart.Pay", if it is of one method only.
  const std::string &text(u32 field);

private:
  void add_roots(Snapshot &snapshot, const ObjectIndex &asked);

  std::string field_text(u32 number);

  Snapshot &snapshot_;
  FieldNumbers numbers_;
  LargeArray<u32> fields_; // nobody, a field's number + 1, behind these roots'
  std::vector<std::string> root_texts_;
  std::unordered_map<u32, std::string> texts_;
  std::optional<SuspendedCalls> calls_; // once a field's name is asked for
};

} // namespace dnheap
