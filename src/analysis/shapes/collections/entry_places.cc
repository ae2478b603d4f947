#include "analysis/shapes/collections/entry_places.h"

#include <algorithm>

namespace dnheap {

EntryPlace EntryPlaces::in_object(Address method_table, const std::string &path) {
  auto [known, is_new] = in_objects_.try_emplace({method_table, path});
  if (!is_new)
    return known->second;
  const std::size_t dot = path.find('.');
  const InstanceField *field = FieldReader(runtime_).find(method_table, path.substr(0, dot));
  if (!field)
    return {};
  EntryPlace out{field, field->offset};
  if (dot != path.npos) {
    const EntryPlace inner = in_value(*field, path.substr(dot + 1));
    out = inner.type ? EntryPlace{inner.type, field->offset + inner.offset} : EntryPlace();
  }
  return known->second = out;
}

EntryPlace EntryPlaces::in_value(const InstanceField &type, const std::string &path) {
  if (path.empty())
    return {&type, 0};
  auto [known, is_new] = in_values_.try_emplace({&type, path});
  if (!is_new)
    return known->second;
  if (type.type != ElementType::ValueType)
    return {};
  const u64 p = runtime_.memory().format().pointer_size; // offsets in structs count as if they were boxed
  const std::size_t dot = path.find('.');
  const std::vector<InstanceField> &fields = fields_of(type);
  const auto field = std::ranges::find(fields, path.substr(0, dot), &InstanceField::name);
  if (field == fields.end() || field->offset < p)
    return {};
  const EntryPlace inner = dot == path.npos ? EntryPlace{&*field, 0} : in_value(*field, path.substr(dot + 1));
  return known->second = inner.type ? EntryPlace{inner.type, field->offset - p + inner.offset} : EntryPlace();
}

const EntryPlaces::Elements *EntryPlaces::elements(Address array_type) {
  auto [known, is_new] = arrays_.try_emplace(array_type);
  if (is_new && array_type)
    if (const std::optional<ElementShape> shape = runtime_.fields().elements(array_type); shape && shape->size) {
      known->second = std::make_unique<Array>();
      Array &array = *known->second;
      array.type.type = shape->type;
      array.type.size = shape->size;
      array.type.method_table = shape->method_table;
      array.type.type_name = shape->method_table ? runtime_.types().name(shape->method_table) : "";
      array.elements = {&array.type, *shape};
    }
  return known->second ? &known->second->elements : nullptr;
}

const std::vector<InstanceField> &EntryPlaces::fields_of(const InstanceField &type) {
  auto [known, is_new] = fields_.try_emplace({type.method_table, type.arguments ? type.type_name : ""});
  if (is_new && type.method_table) {
    const bool is_shared = type.arguments && runtime_.types().name(type.method_table) != type.type_name;
    known->second = is_shared ? runtime_.fields().fields_of_instance(type.method_table, type.arguments)
                              : runtime_.fields().instance_fields(type.method_table);
  }
  return known->second;
}

} // namespace dnheap
