// CoreClrFields: Fields (fields.h) of CoreCLR, by FieldDesc and metadata. An object's fields are those of its type and
// of the parents; a struct's own fields are found through the MethodTable that the runtime loaded for it (TypeLookup).
#pragma once
#include "base/notes.h"
#include "runtime/coreclr/types/delegates.h"
#include "runtime/coreclr/types/field_descs.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/named_fields.h"

#include <map>

namespace dnheap {

class CoreClrFields : public NamedFields {
public:
  CoreClrFields(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types, Loader1 &loader,
                const FieldDescs &field_descs);

  std::optional<ElementShape> elements(Address method_table) override;
  std::vector<InstanceField> fields_of_instance(Address method_table, const TypeArguments &arguments) override;
  std::vector<DelegateTarget> delegate_targets(Address object, Address method_table, u64 limit) override;
  std::optional<DelegateList> delegate_list(Address object, Address method_table) override;
  Notes notes() const override;

private:
  struct Flattening {
    ReferenceLayout *to;
    u64 base; // offset in `to` of the object or struct
    u64 skip; // subtracted from field offsets, which count from an object: 0, or for a struct the size of a pointer
    PathText prefix;
    unsigned depth;
  };

  TypeNames build_names(Address method_table) override;
  void flatten(Address method_table, const Flattening &into, u64 &budget);
  std::vector<InstanceField> read_fields(Address method_table) override;
  // Adds the size of the type arguments' names to `kept`.
  std::vector<InstanceField> read(Address method_table, const TypeArguments &arguments, u64 &kept);
  u64 count_of(Address method_table, const InstanceField &only) const;
  void describe(InstanceField &field, const FieldDesc &desc, Address module, const TypeArguments &arguments, u64 &kept);
  TypeArguments arguments_of(Address method_table, u64 &budget);
  TypeArguments arguments_in(const SignatureType &type, const Metadata &metadata, const TypeArguments &arguments,
                             u64 &room);
  std::optional<u64> struct_size(Address method_table) const;
  std::optional<u64> size_of(const InstanceField &field) const;

  RuntimeTypeSystem1 *types_;
  Loader1 *loader_;
  const FieldDescs *field_descs_;
  TypeLookup lookup_;
  Delegates delegates_;
  std::optional<u64> padding_; // EEClass.BaseSizePadding
  u64 kept_ = 0;               // characters in all kept fields and names
  std::map<std::string, u64> problems_;
};

} // namespace dnheap
