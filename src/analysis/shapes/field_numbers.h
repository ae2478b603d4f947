// FieldNumbers: one numbering of all places where objects have references: the words of each type, and for arrays the
// words of one element. Passes over millions of references sum up by these numbers, and only the few fields that are
// shown are named afterwards. 16 bytes per type; of() costs a division for arrays of structs, else a shift. Immutable;
// of() runs in any thread, text() in one.
#pragma once
#include "objects/references.h"
#include "runtime/runtime.h"

#include <string>
#include <vector>

namespace dnheap {

class FieldNumbers {
public:
  FieldNumbers(const Runtime &runtime, const HeapTypes &types);

  u32 count() const { return count_; }
  // Returns the number of the reference at that offset in an object of the type.
  u32 of(TypeId type, u64 offset) const {
    const Row &row = rows_[static_cast<u32>(type)];
    u64 at = offset - row.start;
    if (row.component)
      at = row.component == p_ ? 0 : at % row.component;
    return row.first + static_cast<u32>(std::min<u64>(at / p_, row.slots - 1));
  }
  // Returns the number for references without a field: dependent handles.
  u32 hidden(TypeId type) const { return rows_[static_cast<u32>(type)].first + rows_[static_cast<u32>(type)].slots; }

  // The type, and the offset of the reference in its object or element; nullopt: no field has it.
  struct Place {
    Address method_table = 0;
    std::optional<u64> offset;
  };
  Place place(u32 number) const;
  // "Shop.Order._code", "System.String[]", "Shop.Entry[].key", "Shop.Key (dependent handle)".
  std::string text(u32 number) const;

private:
  TypeId type_of(u32 number) const;

  struct Row {
    u32 first = 0, slots = 1;
    u32 start = 0, component = 0; // 0: no array
  };
  const Runtime &runtime_;
  const HeapTypes &types_;
  const u64 p_;
  std::vector<Row> rows_; // by TypeId
  u32 count_ = 0;
};

} // namespace dnheap
