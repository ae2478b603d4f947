// HeapTypes: one numbering of the types that occur in the heap, for all threads, with what is needed to read their
// objects' references. By ascending MethodTable; Free is none of them. Built by one thread, since it asks the type
// system; then immutable. Each thread that looks types up takes a table() of its own.
#pragma once
#include "heap/gcdesc.h"
#include "heap/type_table.h"
#include "runtime/runtime.h"

#include <span>

namespace dnheap {

enum class TypeId : u32 {};

struct ObjectType {
  Address method_table = 0;
  GCDesc references;
  bool is_described = true;     // false: its GCDesc is damaged or missing, so its objects' references are unknown
  bool has_hidden = false;      // its objects may refer to others though no field says so
  Address loader_allocator = 0; // object that each of its objects keeps alive; 0: none
};

class HeapTypes {
public:
  // `method_tables`: ascending.
  HeapTypes(const Heap &heap, const Runtime &runtime, std::span<const Address> method_tables);

  u32 size() const { return static_cast<u32>(types_.size()); }
  const ObjectType &operator[](TypeId id) const { return types_[static_cast<u32>(id)]; }
  // Ids in it are TypeIds; what has another one (size() or above) occurred in no walk.
  TypeTable table() const { return table_; }
  // Objects of that type may be keys of dependent handles.
  void set_hidden(Address method_table);

private:
  TypeTable table_;
  std::vector<ObjectType> types_;
};

} // namespace dnheap
