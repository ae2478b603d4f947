#include "analysis/shapes/string_contents.h"

#include <algorithm>

namespace dnheap {

std::vector<bool> string_types(const HeapTypes &types, const Runtime &runtime) {
  std::vector<bool> out(types.size());
  for (u32 i = 0; i < types.size(); ++i) {
    const Address mt = types[TypeId{i}].method_table;
    const std::optional<ObjectLayout> layout = runtime.types().object_layout(mt);
    out[i] = layout && layout->component_size == 2 && !layout->contains_gc_pointers &&
             runtime.types().name(mt) == "System.String";
  }
  return out;
}

std::optional<Bytes> characters_of(const OpenedObject &string, const StringLayout &layout, ByteOrder order) {
  if (std::max(layout.length, layout.characters) + 4 > string.size)
    return std::nullopt;
  const u64 bytes = 2 * u64{load<u32>(string.bytes + layout.length, order)};
  if (layout.characters + bytes > string.size)
    return std::nullopt;
  return Bytes(string.bytes + layout.characters, bytes);
}

} // namespace dnheap
