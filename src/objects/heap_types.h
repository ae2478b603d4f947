// HeapTypes: one numbering of the types that occur in the heap, shared by all threads, with the data needed to read
// their objects' references. Sorted by MethodTable; Free is not included. Built by one thread, since it asks the type
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
  bool has_hidden = false;      // its objects may have references that are in no field
  Address loader_allocator = 0; // the object that each of its objects keeps alive; 0: none
};

class HeapTypes {
public:
  // `method_tables` must be ascending.
  HeapTypes(const Heap &heap, const Runtime &runtime, std::span<const Address> method_tables);

  u32 size() const { return static_cast<u32>(types_.size()); }
  const ObjectType &operator[](TypeId id) const { return types_[static_cast<u32>(id)]; }
  // Its ids are TypeIds. An id of size() or above is a type that occurred in no walk.
  TypeTable table() const { return table_; }
  // Marks a type whose objects may be keys of dependent handles.
  void set_hidden(Address method_table);

private:
  TypeTable table_;
  std::vector<ObjectType> types_;
};

} // namespace dnheap
