#include "runtime/recorded/recorded_types.h"

namespace dnheap {

const HeapRecord::Type *RecordedTypes::find(Address method_table) const {
  const u64 number = record_.type_at(method_table);
  return number < record_.types.size() ? &record_.types[number] : nullptr;
}

std::optional<ObjectLayout> RecordedTypes::object_layout(Address method_table) const {
  const HeapRecord::Type *type = find(method_table);
  if (!type || type->base_size == 0)
    return std::nullopt;
  return ObjectLayout{type->base_size, type->component_size, type->has_references};
}

const std::string &RecordedTypes::name(Address method_table) {
  static const std::string unknown = "(unknown type)";
  const HeapRecord::Type *type = find(method_table);
  return type ? type->name : unknown;
}

std::string RecordedTypes::assembly(Address method_table) {
  const HeapRecord::Type *type = find(method_table);
  return type ? type->assembly : "";
}

} // namespace dnheap
