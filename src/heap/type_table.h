// TypeTable: maps a MethodTable's address to what the walk needs of the type: its size. Open addressing, one table per
// thread; a miss asks the type system, which decodes and validates the MethodTable once. A hit costs one multiplication
// and, nearly always, one probe. Rows stay in `id` order, so ids index arrays beside the table. Addresses inside the
// heap are never taken for MethodTables, whatever the program stores in its arrays.
#pragma once
#include "runtime/type_system.h"

#include <vector>

namespace dnheap {

class Heap;

// Marks empty slots. Not 0: unused memory holds 0, which must be a miss. MethodTables are never odd.
inline constexpr Address no_method_table = ~Address{0};

// The data from which object_size() computes an object's size, which is then rounded up to the heap's alignment.
struct TypeRow {
  Address method_table = no_method_table;
  u32 base_size = 0;      // header included
  u32 component_size = 0; // 0: not an array, string or Free object
  u32 id = 0;             // within one TypeTable
};

class TypeTable {
public:
  TypeTable(const TypeSystem &types, const Heap &heap);

  // Returns null if there is no type at that address, which must not be odd. The pointer is valid until the next call.
  const TypeRow *find(Address method_table) {
    u64 slot = slot_of(method_table);
    while (slots_[slot].method_table != method_table) {
      if (slots_[slot].method_table == no_method_table)
        return miss(method_table);
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return &slots_[slot];
  }
  // Returns Heap::is_planned() of the heap whose objects are looked up.
  bool is_planned() const { return is_planned_; }
  bool is_free(const TypeRow &row) const { return row.method_table == source_->free_object_method_table(); }
  // Makes sure that no type gets id 0.
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
  std::vector<TypeRow> slots_; // size is a power of two
  unsigned shift_ = 64 - 10;
  std::vector<Address> types_;    // by id
  std::vector<Address> rejected_; // by hash: recent misses, as garbage repeats itself
};

} // namespace dnheap
