#include "analysis/waste/buffer_owners.h"

#include "analysis/names/type_called.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"

namespace dnheap {

namespace {

struct KnownOwner {
  std::string_view type;
  std::string_view array, length, owns; // fields; `owns`: a bool, or empty
};
constexpr KnownOwner known_owners[] = {
    {"System.IO.MemoryStream", "_buffer", "_length", "_expandable"},
    {"System.Buffers.ArrayBufferWriter", "_buffer", "_index", ""},
};

} // namespace

BufferOwners::BufferOwners(const Runtime &runtime, const HeapTypes &types) {
  const BaseTypes bases(runtime);
  FieldReader fields(runtime);
  for (u32 i = 0; i < types.size(); ++i)
    for (const KnownOwner &known : known_owners) {
      const Address type = types[TypeId(i)].method_table;
      if (!bases.any_of(type, [&](const std::string &name) { return is_type_called(name, known.type); }))
        continue;
      const std::optional<u64> array = fields.offset(type, known.array), length = fields.offset(type, known.length),
                               owns = known.owns.empty() ? u64{0} : fields.offset(type, known.owns);
      if (array && length && owns)
        shapes_[i] = {*array, *length, *owns};
    }
}

std::optional<CollectionFill> BufferOwners::read(const OpenedObject &object, ReferenceReader &reader,
                                                 Format format) const {
  const auto at = shapes_.find(static_cast<u32>(object.id));
  if (at == shapes_.end())
    return std::nullopt;
  const Shape &shape = at->second;
  const u64 p = format.pointer_size;
  if (object.size < std::max({shape.array + p, shape.length + sizeof(u32), shape.owns + 1}) ||
      (shape.owns && object.bytes[shape.owns] == std::byte{0}))
    return std::nullopt;
  const Address array = load_pointer(object.bytes + shape.array, format);
  OpenedObject opened;
  if (!array || !reader.open(array, opened) || opened.size < p + sizeof(u32))
    return std::nullopt;
  CollectionFill out;
  out.count = load<u32>(object.bytes + shape.length, format.byte_order);
  out.capacity = load<u32>(opened.bytes + p, format.byte_order);
  if (out.count > *out.capacity)
    return std::nullopt;
  out.is_builder = true; // a single byte is no element for which a field would be enough
  out.parts[0] = out.slots[0] = array;
  return out;
}

} // namespace dnheap
