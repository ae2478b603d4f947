#include "analysis/inspect/collection_shapes.h"

#include "analysis/inspect/base_types.h"
#include "analysis/inspect/field_reader.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr const char *list_names[] = {"System.Collections.Generic.List", "System.Collections.Generic.Stack",
                                      "System.Collections.Generic.Queue"};
constexpr const char *table_names[] = {"System.Collections.Generic.Dictionary", "System.Collections.Generic.HashSet"};
constexpr const char *concurrent_name = "System.Collections.Concurrent.ConcurrentDictionary";
constexpr const char *builder_name = "System.Text.StringBuilder";
constexpr u64 most_collection_types = 60000;
constexpr u64 most_locks = 1 << 16; // of one ConcurrentDictionary

// "List<Shop.Order>" of "List", but not "List<Shop.Order>+Enumerator".
bool is_instance_of(std::string_view name, std::string_view generic) {
  if (!name.starts_with(generic) || name.size() <= generic.size() || name[generic.size()] != '<')
    return false;
  i64 depth = 0;
  for (u64 i = generic.size(); i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (depth == 0)
      return i + 1 == name.size();
  }
  return false;
}

// Which of the names the type, or a base type of it, has; empty: none.
std::string_view collection_name(const std::string &name) {
  for (std::string_view one : list_names)
    if (is_instance_of(name, one))
      return one;
  for (std::string_view one : table_names)
    if (is_instance_of(name, one))
      return one;
  return is_instance_of(name, concurrent_name) ? concurrent_name : name == builder_name ? builder_name : "";
}

bool is_tables(const std::string &name) {
  constexpr std::string_view nested = "+Tables";
  return name.ends_with(nested) &&
         is_instance_of(std::string_view(name).substr(0, name.size() - nested.size()), concurrent_name);
}

// An offset, if the field is of that kind and lies inside the object; 0: it does not.
u32 offset_in(FieldReader &fields, Address method_table, u64 base_size, const char *name, bool is_reference) {
  const InstanceField *field = fields.find(method_table, name);
  const u64 p = fields.pointer_size(), width = is_reference ? p : 4;
  if (!field || field->is_reference() != is_reference || field->offset + width + p > base_size)
    return 0;
  return field->size && *field->size < 4 ? 0 : static_cast<u32>(field->offset);
}

} // namespace

std::string CollectionShapes::known() {
  return "List, Stack, Queue, Dictionary, HashSet, ConcurrentDictionary, StringBuilder, and what derives from them";
}

std::optional<CollectionShapes::Shape> CollectionShapes::shape_of(const Runtime &runtime, Address mt,
                                                                  std::string_view name) const {
  FieldReader fields(runtime);
  const std::optional<ObjectLayout> layout = runtime.types().object_layout(mt);
  if (!layout || layout->component_size)
    return std::nullopt;
  auto number = [&](const char *field) { return offset_in(fields, mt, layout->base_size, field, false); };
  auto reference = [&](const char *field) { return offset_in(fields, mt, layout->base_size, field, true); };
  Shape out;
  auto has = [&](std::initializer_list<u32> offsets) {
    return std::find(offsets.begin(), offsets.end(), 0u) == offsets.end();
  };
  if (name == "+Tables") {
    out = {Kind::tables, 0, 0, reference("_buckets"), reference("_countPerLock"), reference("_locks")};
    return has({out.first, out.second, out.third}) ? std::optional(out) : std::nullopt;
  }
  if (name == concurrent_name) {
    out = {Kind::concurrent, 0, 0, reference("_tables"), 0, 0};
    return has({out.first}) ? std::optional(out) : std::nullopt;
  }
  if (name == builder_name) {
    out = {Kind::builder, number("m_ChunkLength"), number("m_ChunkOffset"), reference("m_ChunkChars"), 0, 0};
    return has({out.count, out.freed, out.first}) ? std::optional(out) : std::nullopt;
  }
  if (name == table_names[0] || name == table_names[1]) {
    out = {Kind::hash_table, number("_count"), number("_freeCount"), reference("_entries"), reference("_buckets"), 0};
    return has({out.count, out.freed, out.first, out.second}) ? std::optional(out) : std::nullopt;
  }
  out = {Kind::array, number("_size"), 0, reference(name == list_names[0] ? "_items" : "_array"), 0, 0};
  return has({out.count, out.first}) ? std::optional(out) : std::nullopt;
}

CollectionShapes::CollectionShapes(const Runtime &runtime, const HeapTypes &types)
    : numbers_(types.size()), components_(types.size()) {
  const BaseTypes bases(runtime);
  for (u32 i = 0; i < types.size(); ++i)
    components_[i] =
        runtime.types().object_layout(types[TypeId{i}].method_table).value_or(ObjectLayout()).component_size;
  for (u32 i = 0; i < types.size() && shapes_.size() < most_collection_types; ++i) {
    const Address mt = types[TypeId{i}].method_table;
    if (types[TypeId{i}].references.empty())
      continue;
    std::string_view name;
    const std::string own = runtime.types().name(mt);
    if (is_tables(own))
      name = "+Tables";
    else
      bases.any_of(mt, [&](const std::string &base) { return !(name = collection_name(base)).empty(); });
    if (name.empty())
      continue;
    if (const std::optional<Shape> shape = shape_of(runtime, mt, name)) {
      shapes_.push_back(*shape);
      numbers_[i] = static_cast<u16>(shapes_.size());
    } else {
      unknown_.push_back(own);
    }
  }
}

std::optional<CollectionFill> CollectionShapes::read(const OpenedObject &object, ReferenceReader &reader,
                                                     Format format) const {
  const Shape &shape = shapes_[numbers_[static_cast<u32>(object.id)] - 1];
  auto number = [&](u32 offset) { return u64{load<u32>(object.bytes + offset, format.byte_order)}; };
  auto reference = [&](u32 offset) -> Address { return offset ? load_pointer(object.bytes + offset, format) : 0; };
  // Components of an array; 0 of null, nullopt of what is none.
  auto length = [&](Address array) -> std::optional<u64> {
    OpenedObject opened;
    if (!array)
      return 0;
    if (!reader.open(array, opened) || component_size(opened.id) == 0)
      return std::nullopt;
    return load<u32>(opened.bytes + format.pointer_size, format.byte_order);
  };
  CollectionFill out;
  if (shape.kind == Kind::tables)
    return std::nullopt;
  if (shape.kind == Kind::concurrent)
    return read_concurrent(reference(shape.first), reader, format, out) ? std::optional(out) : std::nullopt;
  out.parts = {reference(shape.first), reference(shape.second), 0, 0};
  out.slots = {out.parts[0], out.parts[1]};
  const std::optional<u64> first = length(out.parts[0]), second = length(out.parts[1]);
  if (!first || !second)
    return std::nullopt;
  out.count = number(shape.count);
  out.capacity = *first;
  if (*first == 0) // an empty array is one for all
    out.parts[0] = out.slots[0] = 0;
  if (*second == 0)
    out.parts[1] = out.slots[1] = 0;
  if (out.count > out.capacity)
    return std::nullopt;
  if (shape.kind == Kind::hash_table) {
    if (number(shape.freed) > out.count)
      return std::nullopt;
    out.count -= number(shape.freed);
  }
  if (shape.kind == Kind::builder) {
    out.is_builder = true;
    if (out.count == 0 && number(shape.freed) != 0) // a chunk of a longer one
      return std::nullopt;
  }
  return out;
}

bool CollectionShapes::read_concurrent(Address at, ReferenceReader &reader, Format format, CollectionFill &out) const {
  OpenedObject tables;
  if (!at || !reader.open(at, tables) || !is_collection(tables.id))
    return false;
  const Shape &shape = shapes_[numbers_[static_cast<u32>(tables.id)] - 1];
  if (shape.kind != Kind::tables)
    return false;
  auto reference = [&](u32 offset) { return load_pointer(tables.bytes + offset, format); };
  out.parts = {at, reference(shape.first), reference(shape.second), reference(shape.third)};
  out.slots = {out.parts[1], 0};
  OpenedObject buckets, counts, locks;
  if (!reader.open(out.parts[1], buckets) || !reader.open(out.parts[2], counts) || !reader.open(out.parts[3], locks) ||
      component_size(buckets.id) == 0 || component_size(counts.id) != 4 || component_size(locks.id) == 0)
    return false;
  const u64 p = format.pointer_size, start = 2 * p;
  out.capacity = load<u32>(buckets.bytes + p, format.byte_order);
  const u64 number = load<u32>(counts.bytes + p, format.byte_order);
  if (number > most_locks || start + 4 * number > counts.size)
    return false;
  for (u64 i = 0; i < number; ++i)
    out.count += load<u32>(counts.bytes + start + 4 * i, format.byte_order);
  return out.count < u64{1} << 32;
}

std::vector<std::string> CollectionShapes::notes(const std::string &lost) const {
  constexpr u64 most = 5;
  std::vector<std::string> out;
  for (u64 i = 0; i < std::min<u64>(unknown_.size(), most); ++i)
    out.push_back(unknown_[i] + " has not the fields that such a collection is known to have: " + lost);
  if (unknown_.size() > most)
    out.push_back("and " + count_text(unknown_.size() - most) + " more such types");
  return out;
}

} // namespace dnheap
