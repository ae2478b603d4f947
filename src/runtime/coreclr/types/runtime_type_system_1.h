// RuntimeTypeSystem contract, version 1: facts about a type from its MethodTable: the size of its objects, and its
// name. Spec: dotnet/runtime docs/design/datacontracts/RuntimeTypeSystem.md; where that is wrong (the dictionary of a
// generic type is the last one, not the first), a comment says so. object_layout() may be called from any thread,
// name() from one.
#pragma once
#include "base/notes.h"
#include "contract/descriptor.h"
#include "metadata/signature.h"
#include "runtime/coreclr/types/loader_1.h"
#include "runtime/type_system.h"
#include "runtime/vm/continuation_types.h"
#include "runtime/vm/method_table_flags.h"

#include <optional>
#include <string>
#include <unordered_map>

namespace dnheap {

class RuntimeTypeSystem1 : public TypeSystem {
public:
  RuntimeTypeSystem1(const Memory &memory, const ContractDescriptor &descriptor, Loader1 &loader);

  Address free_object_method_table() const override { return free_; }
  // Nullopt unless a sound MethodTable lies there: its EEClass, or that of its canonical type, must point back; for
  // types of suspended calls, see ContinuationTypes.
  std::optional<ObjectLayout> object_layout(Address method_table) const override;

  std::optional<bool> is_value_type(Address mt) const override {
    const std::optional<u32> flags = this->flags(mt);
    return flags ? std::optional((*flags & mt_category_value_mask) == mt_category_value) : std::nullopt;
  }
  // From any thread.
  Address loader_allocator_object(Address method_table) const override;

  // Returns the full name as ClrMD spells it (metadata/type_name.h); "<unknown type 0x…>" or "Module.dll!0x02000123" if
  // it is unknown, with the reason in notes(). Names are kept.
  const std::string &name(Address method_table) override;
  std::string assembly(Address mt) override { return loader_->file_name(module_of(mt)); }
  bool knows_framework() override;
  Notes notes() const override;

  // The data that fields and statics are found by. 0: unknown.
  bool is_method_table(Address mt) const;
  // The types of suspended runtime-async calls.
  const ContinuationTypes &continuations() const { return continuations_; }
  std::optional<u32> flags(Address mt) const { return memory_->try_load<u32>(mt + at_.flags); }
  Address canonical(Address mt) const; // itself, except for generic instantiations that share their code
  Address class_of(Address mt) const;  // the EEClass, which belongs to the canonical MethodTable
  Address parent_of(Address mt) const override;
  Address module_of(Address mt) const; // the module that defines the type
  u32 type_def_rid(Address mt) const;
  // TypeHandles of the generic arguments (0: not in the dump); empty: none, or unknown.
  std::vector<Address> instantiation(Address mt) const;
  // As name(), but also for TypeDescs: pointers, type variables.
  std::string handle_name(Address handle) { return type_handle_name(handle, 0); }
  // Primitives and enums have their own type, other structs ValueType, classes Class; ValueType if unknown.
  ElementType normal_type(Address mt) const;
  // TypeHandle of an array's elements.
  Address element_type_of(Address mt) const {
    return at_.per_inst_info ? memory_->try_pointer(mt + *at_.per_inst_info).value_or(0) : 0;
  }
  bool is_collectible(Address mt) const {
    return flags(mt).value_or(0) & (at_.token ? mt_collectible_with_token : mt_collectible);
  }

private:
  struct Offsets {
    u64 flags, base_size, class_or_canonical, class_method_table;
    // Needed only for names: a dump may hold too little to find them.
    std::optional<u64> parent, module, flags2, per_inst_info, virtuals, num_dicts, num_type_args;
    std::optional<u64> token; // 8.0
    std::optional<u64> normal_type;
  };

  std::string type_handle_name(Address handle, unsigned depth);
  std::string method_table_name(Address mt, unsigned depth);
  void check_relations(Address mt, const Metadata &metadata, u32 rid, u32 arity);
  std::unordered_map<Address, std::string>::iterator keep(Address handle, std::string name);
  std::string type_desc_name(Address desc, unsigned depth);
  std::string array_name(Address mt, u32 flags, unsigned depth);
  std::string function_pointer_name(Address desc, unsigned depth);
  std::string variable_name(Address desc);
  bool is_type_handle(Address handle) const;
  std::vector<std::string> arguments(Address mt, u32 expected, unsigned depth);
  std::string unknown(Address handle, const std::string &why);
  std::string why_missing(std::initializer_list<const char *> values) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  Loader1 *loader_;
  const u64 p_;
  const ContinuationTypes continuations_;
  Offsets at_{};
  Address free_ = 0;
  std::unordered_map<Address, std::string> names_;
  u64 kept_ = 0;                                             // characters in names_
  std::map<std::pair<const Metadata *, u32>, Address> rows_; // the MethodTable of each TypeDef
  std::map<std::string, u64> problems_;
  std::map<std::string, std::map<std::string, u64>> module_problems_; // why → module → types
};

} // namespace dnheap
