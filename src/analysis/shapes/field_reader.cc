#include "analysis/shapes/field_reader.h"

#include <algorithm>

namespace dnheap {

const InstanceField *FieldReader::find(Address method_table, std::string_view name) const {
  if (!method_table)
    return nullptr;
  const std::vector<InstanceField> &fields = runtime_.fields().instance_fields(method_table);
  // Inherited fields come first; of several with the name the most derived one is taken.
  auto found = std::find_if(fields.rbegin(), fields.rend(), [&](const InstanceField &f) { return f.name == name; });
  return found == fields.rend() ? nullptr : &*found;
}

std::optional<u64> FieldReader::offset(Address method_table, std::string_view path) {
  if (!method_table)
    return std::nullopt;
  auto [known, is_new] = offsets_[method_table].try_emplace(std::string(path));
  std::optional<u64> &out = known->second;
  if (!is_new)
    return out;
  u64 sum = 0;
  for (Address type = method_table; !path.empty();) {
    // NativeAOT lists the fields of a struct that has no type of its own with the struct's, by their whole path.
    const InstanceField *field = find(type, path);
    const std::size_t dot = field ? path.npos : path.find('.');
    if (!field)
      field = find(type, path.substr(0, dot));
    if (!field)
      return std::nullopt;
    sum += field->offset - (type == method_table ? 0 : pointer_size()); // offsets in a struct count as if it were boxed
    path = dot == path.npos ? std::string_view() : path.substr(dot + 1);
    type = field->method_table;
  }
  return out = sum;
}

std::vector<Address> FieldReader::elements(Address array, u64 limit) const {
  std::vector<Address> out;
  const Address type = type_of(array);
  std::optional<ElementShape> shape = type ? runtime_.fields().elements(type) : std::nullopt;
  if (!shape || shape->type != ElementType::Class || shape->rank != 0)
    return out;
  const u64 count = std::min<u64>(length(array).value_or(0), limit);
  for (u64 i = 0; i < count; ++i) {
    std::optional<u64> element = memory_.try_pointer(array + shape->start + i * shape->size);
    if (!element)
      break;
    out.push_back(*element);
  }
  return out;
}

} // namespace dnheap
