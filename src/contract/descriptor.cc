#include "contract/descriptor.h"

#include "base/missing_value.h"

namespace dnheap {

namespace {

// Makes an error such as "the offset of Thread.LinkNext is neither published …: discovered 8, 16; tables none; exactly
// one must pass: …"
MissingValue missing_value(const ContractDescriptor &descriptor, const char *what, const std::string &name) {
  auto why = descriptor.missing.find(name);
  return MissingValue(std::string("the ") + what + " " + name +
                          " is neither published by this runtime nor could it be found in its memory" +
                          (why == descriptor.missing.end() ? "" : ": " + why->second),
                      name);
}

} // namespace

const char *name_of(Origin origin) {
  switch (origin) {
  case Origin::published: return "published";
  case Origin::discovered: return "discovered";
  case Origin::table: break;
  }
  return "table";
}

const DataType *ContractDescriptor::find_type(std::string_view type) const {
  auto it = types.find(type);
  return it == types.end() ? nullptr : &it->second;
}

const Field *ContractDescriptor::find_field(std::string_view type, std::string_view field) const {
  const DataType *found = find_type(type);
  if (!found)
    return nullptr;
  auto it = found->fields.find(field);
  return it == found->fields.end() ? nullptr : &it->second;
}

const Global *ContractDescriptor::find_global(std::string_view name) const {
  auto it = globals.find(name);
  return it == globals.end() ? nullptr : &it->second;
}

bool ContractDescriptor::has(std::string_view name) const {
  const std::size_t dot = name.find('.');
  return dot == name.npos ? find_global(name) != nullptr
                          : find_field(name.substr(0, dot), name.substr(dot + 1)) != nullptr;
}

std::optional<i64> ContractDescriptor::try_offset(std::string_view type, std::string_view field) const {
  const Field *found = find_field(type, field);
  return found ? std::optional(found->offset) : std::nullopt;
}

i64 ContractDescriptor::offset(std::string_view type, std::string_view field) const {
  if (std::optional<i64> found = try_offset(type, field))
    return *found;
  throw missing_value(*this, "offset of", std::string(type) + "." + std::string(field));
}

u64 ContractDescriptor::size_of(std::string_view type) const {
  if (const DataType *found = find_type(type); found && found->size)
    return *found->size;
  throw missing_value(*this, "size of", std::string(type));
}

std::optional<u64> ContractDescriptor::try_number(std::string_view global) const {
  const Global *found = find_global(global);
  return found ? found->number : std::nullopt;
}

u64 ContractDescriptor::number(std::string_view global) const {
  if (std::optional<u64> found = try_number(global))
    return *found;
  throw missing_value(*this, "global", std::string(global));
}

void ContractDescriptor::set_field(const std::string &type, const std::string &field, i64 offset, Origin origin) {
  Field &to = types[type].fields[field];
  to.offset = offset;
  to.origin = origin;
}

void ContractDescriptor::set_number(const std::string &global, u64 number, bool indirect, Origin origin) {
  Global &to = globals[global];
  to.number = number;
  to.indirect = indirect;
  to.origin = origin;
}

void ContractDescriptor::set_text(const std::string &global, const std::string &text, Origin origin) {
  Global &to = globals[global];
  to.text = text;
  to.origin = origin;
}

} // namespace dnheap
