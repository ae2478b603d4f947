// FieldDescs: the fields that a type itself declares, as CoreCLR lays them out: GetFieldDesc… of the RuntimeTypeSystem
// contract, version 1, with each field's name from the metadata. A list costs one read per field and is not kept. Only
// for CoreClr, which hands it out; one thread at a time, since metadata is found on first use. Spec: dotnet/runtime
// docs/design/datacontracts/RuntimeTypeSystem.md; bits: src/coreclr/vm/field.h.
#pragma once
#include "metadata/signature.h"
#include "runtime/coreclr/types/runtime_type_system_1.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct FieldDesc {
  Address address = 0;                // of the runtime's FieldDesc
  Address enclosing_method_table = 0; // of the declaring type; for shared generic code, the canonical one
  Token token = 0;                    // 0x04…
  // The type in the target's memory: an enum is its primitive, every kind of reference is Class, every struct
  // ValueType.
  ElementType type{};
  bool is_static = false, is_thread_static = false, is_rva = false; // a thread static is static too
  // For an instance field: from the object's first field, which follows the MethodTable. For a static: from the base of
  // its kind. Absent: the field has no place (edit and continue, half-loaded types).
  std::optional<u32> offset;

  bool is_reference() const { return type == ElementType::Class; }
};

class FieldDescs {
public:
  FieldDescs(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types,
             Loader1 &loader);

  // Returns the fields that the type declares itself, instance and static ones, in the runtime's order; not inherited
  // ones. Empty also if there are none. Nullopt: they cannot be read, and why_missing() may have the reason. A damaged
  // list ends at the damage.
  std::optional<std::vector<FieldDesc>> own_fields(Address method_table) const;
  // The name in the metadata, control characters included; empty if unknown.
  std::string name(const FieldDesc &field) const;
  // Returns the signature's bytes behind 0x06 (II.23.2.4), or empty.
  Bytes signature(const FieldDesc &field) const;
  // Why no type's fields can be read; empty if they can.
  std::string why_missing() const;

private:
  std::optional<FieldDesc> read(Address at) const;
  std::optional<u64> published_count(Address method_table) const;
  std::optional<FieldRow> row(const FieldDesc &field) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  const RuntimeTypeSystem1 *types_;
  Loader1 *loader_;
  std::optional<u64> list_, instance_count_, static_count_; // in EEClass
  u64 word1_, word2_, size_;                                // of FieldDesc
};

} // namespace dnheap
