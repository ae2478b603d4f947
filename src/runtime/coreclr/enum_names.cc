#include "runtime/coreclr/enum_names.h"

#include "base/text.h"
#include "runtime/coreclr/core_clr.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u16 literal = 0x40; // a flag of FieldAttributes, II.23.1.5
constexpr u64 most_members = 10000;

// Reads a constant: little endian (II.22.9), a signed one as wide as its type.
u64 number(Bytes bytes) {
  u64 value = 0;
  for (u64 i = 0; i < std::min<u64>(bytes.size(), 8); ++i)
    value |= std::to_integer<u64>(bytes[i]) << 8 * i;
  return value;
}

} // namespace

EnumNames::EnumNames(const Runtime &runtime) : runtime_(dynamic_cast<const CoreClr *>(&runtime)) {
  if (runtime_)
    lookup_ =
        std::make_unique<TypeLookup>(runtime_->memory(), runtime_->descriptor(), runtime_->types(), runtime_->loader());
}

const EnumNames::Members &EnumNames::members(Address enum_type) {
  auto [known, is_new] = members_.try_emplace(enum_type);
  if (!is_new || !runtime_)
    return known->second;
  RuntimeTypeSystem1 &types = runtime_->types();
  if (!types.is_method_table(enum_type) || types.name(types.parent_of(enum_type)) != "System.Enum")
    return known->second;
  const Metadata *metadata = runtime_->loader().metadata(types.module_of(enum_type));
  if (!metadata)
    return known->second;
  Members &out = known->second;
  for (u32 rid : metadata->fields_of(types.type_def_rid(enum_type))) {
    const std::optional<FieldRow> row = metadata->field(rid);
    const std::optional<ConstantRow> constant = metadata->constant(token(Table::Field, rid));
    if (row && constant && row->flags & literal && out.size() < most_members)
      out.emplace_back(number(constant->value), shortened(row->name, 200));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  return out;
}

std::string EnumNames::text(Address enum_type, u64 value) {
  const Members &all = members(enum_type);
  auto found = std::lower_bound(all.begin(), all.end(), value,
                                [](const auto &member, u64 wanted) { return member.first < wanted; });
  if (found != all.end() && found->first == value)
    return found->second;
  // For flags, take the largest that fit, until nothing is left.
  std::string out;
  for (auto member = all.rbegin(); member != all.rend() && value; ++member)
    if (member->first && (member->first & value) == member->first) {
      out = member->second + (out.empty() ? "" : " | ") + out;
      value &= ~member->first;
    }
  return value ? "" : out;
}

std::string EnumNames::text(Address declaring_type, const std::string &field, u64 value) {
  if (!runtime_)
    return "";
  auto [known, is_new] = enums_.try_emplace({declaring_type, field});
  if (is_new)
    known->second = enum_of(declaring_type, field);
  return known->second ? text(known->second, value) : "";
}

Address EnumNames::enum_of(Address declaring_type, const std::string &name) {
  const FieldDescs &descs = runtime_->field_descs();
  RuntimeTypeSystem1 &types = runtime_->types();
  const std::optional<std::vector<FieldDesc>> own = descs.own_fields(declaring_type);
  if (!own)
    return 0;
  for (const FieldDesc &desc : *own) {
    if (desc.is_static || descs.name(desc) != name)
      continue;
    const std::optional<SignatureType> type =
        decode_field(descs.signature(desc), runtime_->memory().format().pointer_size);
    return type ? lookup_->find(*type, types.module_of(desc.enclosing_method_table),
                                types.instantiation(desc.enclosing_method_table))
                : 0;
  }
  return 0;
}

} // namespace dnheap
