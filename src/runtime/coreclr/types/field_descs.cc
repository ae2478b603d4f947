#include "runtime/coreclr/types/field_descs.h"

namespace dnheap {

namespace {

constexpr u64 max_fields = 65536;               // limit for one type; metadata has row numbers for 2²⁴
constexpr u32 first_special_offset = 0x7fffff8; // offsets from here on mean "none" (src/coreclr/vm/field.h)

} // namespace

// A descriptor without FieldDescs implies the layout of .NET 8 to 10: {MethodTable, u32, u32}.
FieldDescs::FieldDescs(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types,
                       Loader1 &loader)
    : memory_(&memory), descriptor_(&descriptor), types_(&types), loader_(&loader) {
  auto optional = [&](const char *type, const char *field) -> std::optional<u64> {
    std::optional<i64> found = descriptor.try_offset(type, field);
    return found ? std::optional(static_cast<u64>(*found)) : std::nullopt;
  };
  const u64 p = memory.format().pointer_size;
  list_ = optional("EEClass", "FieldDescList");
  instance_count_ = optional("EEClass", "NumInstanceFields");
  static_count_ = optional("EEClass", "NumStaticFields");
  word1_ = optional("FieldDesc", "DWord1").value_or(p);
  word2_ = optional("FieldDesc", "DWord2").value_or(p + 4);
  const DataType *type = descriptor.find_type("FieldDesc");
  size_ = type && type->size ? *type->size : p + 8;
}

std::string FieldDescs::why_missing() const {
  if (list_)
    return "";
  auto why = descriptor_->missing.find("EEClass.FieldDescList");
  return "EEClass.FieldDescList was not found" + (why == descriptor_->missing.end() ? "" : ": " + why->second);
}

std::optional<FieldDesc> FieldDescs::read(Address at) const {
  auto enclosing = memory_->try_pointer(at);
  auto word1 = memory_->try_load<u32>(at + word1_), word2 = memory_->try_load<u32>(at + word2_);
  if (!enclosing || !word1 || !word2)
    return std::nullopt;
  FieldDesc out;
  out.address = at;
  out.enclosing_method_table = *enclosing;
  out.token = token(Table::Field, *word1 & 0xffffff);
  out.is_static = *word1 & 1u << 24;
  out.is_thread_static = *word1 & 1u << 25;
  out.is_rva = *word1 & 1u << 26;
  out.type = static_cast<ElementType>(*word2 >> 27);
  if (u32 offset = *word2 & 0x7ffffff; offset < first_special_offset)
    out.offset = offset;
  return out;
}

// Returns the number of the type's own fields: the published number of instance fields includes inherited ones.
std::optional<u64> FieldDescs::published_count(Address mt) const {
  if (!instance_count_ || !static_count_)
    return std::nullopt;
  Address parent = types_->parent_of(mt), own_class = types_->class_of(mt);
  auto all = memory_->try_load<u16>(own_class + *instance_count_),
       statics = memory_->try_load<u16>(own_class + *static_count_);
  std::optional<u16> inherited =
      parent ? memory_->try_load<u16>(types_->class_of(parent) + *instance_count_) : std::optional<u16>(0);
  if (!all || !statics || !inherited || *inherited > *all)
    return std::nullopt;
  return u64{*all} - *inherited + *statics;
}

// Each FieldDesc refers to its declaring type, and a type has one list. If the number of fields is not published, the
// list ends at the first FieldDesc of another type, or at the first field that the metadata assigns to another type.
std::optional<std::vector<FieldDesc>> FieldDescs::own_fields(Address mt) const {
  Address own_class = list_ ? types_->class_of(mt) : 0, owner = types_->canonical(mt);
  std::optional<u64> list = own_class ? memory_->try_pointer(own_class + *list_) : std::nullopt;
  if (!list)
    return std::nullopt;
  std::vector<FieldDesc> out;
  if (!*list)
    return out;
  u64 count = std::min(published_count(mt).value_or(max_fields), max_fields);
  const Metadata *metadata = loader_->metadata(types_->module_of(owner));
  u32 rid = types_->type_def_rid(owner);
  for (u64 i = 0; i < count; ++i) {
    std::optional<FieldDesc> field = read(*list + i * size_);
    if (!field || field->enclosing_method_table != owner || rid_of(field->token) == 0)
      break;
    if (metadata && rid && metadata->type_of_field(rid_of(field->token)) != rid)
      break;
    out.push_back(*field);
  }
  return out;
}

std::optional<FieldRow> FieldDescs::row(const FieldDesc &field) const {
  const Metadata *metadata = loader_->metadata(types_->module_of(field.enclosing_method_table));
  return metadata ? metadata->field(rid_of(field.token)) : std::nullopt;
}

std::string FieldDescs::name(const FieldDesc &field) const {
  std::optional<FieldRow> found = row(field);
  return found ? std::string(found->name) : "";
}

Bytes FieldDescs::signature(const FieldDesc &field) const {
  std::optional<FieldRow> found = row(field);
  return found ? found->signature : Bytes();
}

} // namespace dnheap
