#include "heap/gcdesc.h"

namespace dnheap {

namespace {

// More series than any object of a believable size has fields.
constexpr i64 most_series = 1 << 16;

i64 signed_word(u64 word, Format format) {
  return format.pointer_size == 8 ? static_cast<i64>(word) : static_cast<i32>(static_cast<u32>(word));
}

} // namespace

// GCDesc stores a series' size minus the object's size, so each object's size is added when it is visited.
bool GCDesc::add_series(u64 size, u64 offset, u32 component_size, Format format) {
  const u64 p = format.pointer_size;
  i64 bytes = signed_word(size, format) + static_cast<i64>(base_size_);
  // The MethodTable comes before the fields; after the last field comes the next object's header.
  if (bytes < 0 || bytes % static_cast<i64>(p) || offset % p || offset < p || offset > base_size_ - p ||
      static_cast<u64>(bytes) > base_size_ - p - offset)
    return false;
  runs_.push_back({static_cast<u32>(offset), static_cast<u32>(bytes), component_size != 0});
  return true;
}

std::optional<GCDesc> GCDesc::at(const Memory &memory, Address mt, u32 base_size, u32 component_size) {
  const Format format = memory.format();
  const u64 p = format.pointer_size;
  std::optional<u64> word = memory.try_pointer(mt - p);
  i64 count = word ? signed_word(*word, format) : 0;
  if (count == 0 || count > most_series || count < -most_series || base_size < 2 * p)
    return std::nullopt;
  GCDesc out;
  out.base_size_ = base_size;
  out.component_size_ = component_size;
  if (count > 0) {
    // Only arrays of references, or of structs that contain nothing else, grow; they have one series.
    if (component_size && (component_size % p || count != 1))
      return std::nullopt;
    for (i64 i = 0; i < count; ++i) {
      Address series = mt - p - (static_cast<u64>(i) + 1) * 2 * p;
      std::optional<u64> size = memory.try_pointer(series), offset = memory.try_pointer(series + p);
      if (!size || !offset || !out.add_series(*size, *offset, component_size, format))
        return std::nullopt;
    }
    return out;
  }
  std::optional<u64> first = memory.try_pointer(mt - 2 * p);
  if (!component_size || !first || *first % p || *first < 2 * p || *first >= base_size - p + component_size)
    return std::nullopt;
  out.first_ = static_cast<u32>(*first);
  out.repeats_ = true;
  u64 pattern = 0;
  for (i64 i = 0; i < -count; ++i) {
    // Half a word each: the number of references, and the bytes to skip after them.
    Address item = mt - 3 * p - static_cast<u64>(i) * p;
    std::optional<u64> references, skip;
    if (p == 8) {
      references = memory.try_load<u32>(item);
      skip = memory.try_load<u32>(item + 4);
    } else {
      references = memory.try_load<u16>(item);
      skip = memory.try_load<u16>(item + 2);
    }
    if (!references || !skip || *references > component_size / p || *skip > component_size || *skip % p)
      return std::nullopt;
    out.runs_.push_back({static_cast<u32>(*skip), static_cast<u32>(*references * p), false});
    pattern += *references * p + *skip;
  }
  if (pattern != component_size)
    return std::nullopt;
  return out;
}

} // namespace dnheap
