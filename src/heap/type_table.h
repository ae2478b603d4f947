// TypeTable: MethodTable address → what the walk must know of the type: its size. Open addressing, one per thread; a
// miss asks the type system, which decodes and validates the MethodTable once. A hit costs one multiplication and,
// nearly always, one probe. Rows never move out of `id` order, so ids index arrays beside the table. What lies in the
// heap itself is never taken for a MethodTable, whatever the program keeps in its arrays.
#pragma once
#include "runtime/type_system.h"

#include <vector>

namespace dnheap {

class Heap;

// Marks empty slots. Not 0: that is what unused memory holds, and it must be a miss. MethodTables are never odd.
inline constexpr Address no_method_table = ~Address{0};

// Size of an object: see object_size(), rounded up to the heap's alignment.
struct TypeRow {
  Address method_table = no_method_table;
  u32 base_size = 0;      // header included
  u32 component_size = 0; // 0: not an array, string or Free object
  u32 id = 0;             // within one TypeTable
};

class TypeTable {
public:
  TypeTable(const TypeSystem &types, const Heap &heap);

  // Null when there is no type at that address, which must not be odd. The pointer is valid until the next call.
  const TypeRow *find(Address method_table) {
    u64 slot = slot_of(method_table);
    while (slots_[slot].method_table != method_table) {
      if (slots_[slot].method_table == no_method_table)
        return miss(method_table);
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return &slots_[slot];
  }
  // Of the heap whose objects are looked up.
  bool is_planned() const { return is_planned_; }
  bool is_free(const TypeRow &row) const { return row.method_table == source_->free_object_method_table(); }
  // Id 0 will be no type's.
  void skip_first_id() { types_.push_back(0); }
  u32 size() const { return static_cast<u32>(types_.size()); }
  Address method_table(u32 id) const { return types_[id]; }

private:
  u64 slot_of(Address method_table) const { return (method_table * 0x9e3779b97f4a7c15) >> shift_; }
  const TypeRow *miss(Address method_table);
  void grow();

  const TypeSystem *source_;
  const Heap *heap_;
  bool is_planned_;
  std::vector<TypeRow> slots_; // a power of two
  unsigned shift_ = 64 - 10;
  std::vector<Address> types_;    // by id
  std::vector<Address> rejected_; // by hash: what was asked for last and is no type; garbage repeats itself
};

} // namespace dnheap
