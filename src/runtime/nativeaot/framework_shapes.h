// FrameworkShapes: the fields of those types of the framework that tasks, exceptions, locks, waits and delegates are
// read by, for NativeAOT programs whose debug file is not at hand: a program itself does not say what its fields are
// called. Which fields such a type has, and in which order they are declared, is a table (framework_shapes.cc); where
// they lie, the compiler's rules and the program's own types say: a row counts only if the fields make up an object of
// the type's size, with references in exactly the places where its GCDesc has them. The type is known by the hash of
// its name. A few dozen reads per type; not kept. One thread.
#pragma once
#include "runtime/fields.h"
#include "runtime/nativeaot/runtime_type_system_n1.h"

#include <map>

namespace dnheap {

class FrameworkShapes {
public:
  // Both must outlive it; so must `descriptor`, which may publish offsets of some managed types.
  FrameworkShapes(const Memory &memory, const ContractDescriptor &descriptor, RuntimeTypeSystemN1 &types);

  // Of that type, inherited ones first, as far as they are known. Structs as if they were boxed.
  std::vector<InstanceField> fields(Address method_table);
  // Types that are called as those in the table, but are not laid out so.
  u64 unknown() const { return unknown_; }

private:
  // Where the fields of a type end; not exact: some may lie in what is left free there.
  struct End {
    u64 at = 0;
    bool is_exact = false;
  };
  struct Placed {
    std::vector<InstanceField> fields;
    u64 end = 0;
  };
  class Layout;

  // `is_last`: no further type derives from that one, so that what is left free in it holds no fields.
  std::optional<Placed> place(std::string_view declared, End from, Address type, const std::vector<bool> &references,
                              bool is_last);
  std::optional<InstanceField> state_of_machine(Address struct_type);
  void add_published(Address type, const std::vector<bool> &references, std::vector<InstanceField> &to);
  u64 capacity_of(Address type) const; // bytes from an object's first one to where its last field may end
  std::vector<bool> references_of(Address type) const; // by word
  void learn_struct(const InstanceField &field, const std::vector<bool> &references);

  const ContractDescriptor *descriptor_;
  RuntimeTypeSystemN1 *types_;
  const u64 p_;
  std::multimap<u32, std::string_view> by_hash_; // the fields as they are declared
  bool is_hashed_ = false;
  // Of structs whose own type does not say where their references lie, as nobody boxes them: by a field that is one.
  std::map<Address, std::vector<bool>> struct_references_;
  u64 unknown_ = 0;
};

} // namespace dnheap
