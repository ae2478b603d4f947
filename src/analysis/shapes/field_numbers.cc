#include "analysis/shapes/field_numbers.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 most_slots = 8200;       // per type; an element of an array never has more
constexpr u32 most_numbers = 1u << 31; // in total: further types get one number each

u32 slots_of(const ObjectLayout &layout, u64 p) {
  const u64 bytes =
      layout.component_size ? layout.component_size : layout.base_size - std::min<u64>(layout.base_size, 2 * p);
  return static_cast<u32>(std::clamp<u64>(bytes / p, 1, most_slots));
}

// Returns the offset of an array's first element.
u32 start_of(const GCDesc &references, u64 otherwise) {
  if (references.repeats_from())
    return *references.repeats_from();
  return references.empty() ? static_cast<u32>(otherwise) : references.runs().front().offset;
}

} // namespace

FieldNumbers::FieldNumbers(const Runtime &runtime, const HeapTypes &types)
    : runtime_(runtime), types_(types), p_(runtime.memory().format().pointer_size), rows_(types.size()) {
  for (u32 i = 0; i < types.size(); ++i) {
    Row &row = rows_[i];
    row.first = count_;
    const ObjectType &type = types[TypeId{i}];
    const ObjectLayout layout = runtime.types().object_layout(type.method_table).value_or(ObjectLayout());
    row.component = layout.component_size;
    row.start = layout.component_size ? start_of(type.references, p_) : static_cast<u32>(p_);
    if (!type.references.empty() && count_ < most_numbers - most_slots)
      row.slots = slots_of(layout, p_);
    count_ += row.slots + 1;
  }
}

TypeId FieldNumbers::type_of(u32 number) const {
  const auto above =
      std::upper_bound(rows_.begin(), rows_.end(), number, [](u32 n, const Row &row) { return n < row.first; });
  return TypeId{static_cast<u32>(above - 1 - rows_.begin())};
}

FieldNumbers::Place FieldNumbers::place(u32 number) const {
  const TypeId type = type_of(number);
  const Row &row = rows_[static_cast<u32>(type)];
  const u32 slot = number - row.first;
  return {types_[type].method_table, slot == row.slots ? std::nullopt : std::optional(row.start + slot * p_)};
}

std::string FieldNumbers::text(u32 number) const {
  const Place at = place(number);
  const std::string &name = runtime_.types().name(at.method_table);
  if (!at.offset)
    return name + " (dependent handle)";
  Fields &fields = runtime_.fields();
  std::string field = fields.text(fields.reference(at.method_table, *at.offset));
  if (rows_[static_cast<u32>(type_of(number))].component && field.starts_with("[*]"))
    field.erase(0, 3);
  return name + field;
}

} // namespace dnheap
