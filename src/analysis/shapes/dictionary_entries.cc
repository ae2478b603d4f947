#include "analysis/shapes/dictionary_entries.h"

namespace dnheap {

std::optional<std::vector<DictionaryEntry>> dictionary_entries(const Runtime &runtime, FieldReader &fields,
                                                               Address dictionary, u32 most) {
  const std::optional<u32> used = fields.number<u32>(dictionary, "_count");
  if (!used || *used > most)
    return std::nullopt;
  return pairs_in_array(runtime, fields, fields.reference_or_null(dictionary, "_entries"), *used);
}

std::optional<std::vector<DictionaryEntry>> pairs_in_array(const Runtime &runtime, FieldReader &fields, Address array,
                                                           u32 used) {
  const Address type = fields.type_of(array);
  const std::optional<ElementShape> shape = type ? runtime.fields().elements(type) : std::nullopt;
  const InstanceField *key = shape ? fields.find(shape->method_table, "key") : nullptr,
                      *value = shape ? fields.find(shape->method_table, "value") : nullptr;
  if (!key || !value || shape->rank != 0 || used > fields.length(array).value_or(0))
    return std::nullopt;
  auto reference = [&](u64 i, const InstanceField &field) {
    const Address at = array + shape->start + i * shape->size + field.offset - fields.pointer_size();
    return fields.memory().try_pointer(at).value_or(0);
  };
  std::vector<DictionaryEntry> out;
  for (u64 i = 0; i < used; ++i)
    out.push_back({reference(i, *key), reference(i, *value)});
  return out;
}

} // namespace dnheap
