// FrameworkShapes: the fields of the framework's types that the analyses of tasks, exceptions, locks, waits and
// delegates read, for NativeAOT programs without their debug file: a program itself has no field names. The fields of
// each type, in the order of declaration, are listed in a table (framework_shapes.cc); their places follow from the
// compiler's rules and the program's own types. A row counts only if its fields make up an object of the type's size,
// with references in exactly the places where its GCDesc has them. The type is identified by the hash of its name. A
// few dozen reads per type; not kept. Not for several threads at once.
#pragma once
#include "runtime/fields.h"
#include "runtime/nativeaot/runtime_type_system_n1.h"

#include <map>

namespace dnheap {

class FrameworkShapes {
public:
  // All arguments must outlive this object, also `descriptor`, which may publish offsets of some managed types.
  FrameworkShapes(const Memory &memory, const ContractDescriptor &descriptor, RuntimeTypeSystemN1 &types);

  // Returns the known fields of that type, inherited ones first. Structs count as if they were boxed.
  std::vector<InstanceField> fields(Address method_table);
  // The number of types that have a name from the table, but another layout.
  u64 unknown() const { return unknown_; }

private:
  // The end of a type's fields. If it is not exact, some fields may lie in the rest of that space.
  struct End {
    u64 at = 0;
    bool is_exact = false;
  };
  struct Placed {
    std::vector<InstanceField> fields;
    u64 end = 0;
  };
  class Layout;

  // `is_last`: no further type derives from that one, so its padding holds no fields.
  std::optional<Placed> place(std::string_view declared, End from, Address type, const std::vector<bool> &references,
                              bool is_last);
  std::optional<InstanceField> state_of_machine(Address struct_type);
  void add_published(Address type, const std::vector<bool> &references, std::vector<InstanceField> &to);
  u64 capacity_of(Address type) const; // bytes from an object's first one to the largest possible end of its last field
  std::vector<bool> references_of(Address type) const; // by word
  void learn_struct(const InstanceField &field, const std::vector<bool> &references);

  const ContractDescriptor *descriptor_;
  RuntimeTypeSystemN1 *types_;
  const u64 p_;
  std::multimap<u32, std::string_view> by_hash_; // hash of the type's name → the fields in the table
  bool is_hashed_ = false;
  // References in structs whose own type does not list them, as nobody boxes them: taken from a field of that type.
  std::map<Address, std::vector<bool>> struct_references_;
  u64 unknown_ = 0;
};

} // namespace dnheap
