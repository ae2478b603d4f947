#include "runtime/compiled/native_array.h"

namespace dnheap {

// The lowest bits of the first byte give the length: a zero bit above as many ones as there are more bytes.
std::optional<NativeArray::Number> NativeArray::number(const Memory &memory, Address image, u32 at) {
  constexpr unsigned most_extra = 4;
  const std::optional<u8> first = memory.try_load<u8>(image + at);
  if (!first)
    return std::nullopt;
  unsigned extra = 0;
  while (extra <= most_extra && *first >> extra & 1)
    ++extra;
  if (extra > most_extra)
    return std::nullopt;
  const bool is_whole = extra == most_extra; // the first byte has no bits of the value
  u32 value = is_whole ? 0 : u32{*first} >> (extra + 1);
  for (unsigned i = 0; i < extra; ++i) {
    const std::optional<u8> next = memory.try_load<u8>(image + at + 1 + i);
    if (!next)
      return std::nullopt;
    value |= u32{*next} << (is_whole ? 8 * i : 7 - extra + 8 * i);
  }
  return Number{value, at + 1 + extra};
}

std::optional<u32> NativeArray::find(u32 index) const {
  constexpr u32 block = 16;
  const std::optional<Number> header = number(*memory_, image_, at_);
  if (!header || index >= header->value >> 2)
    return std::nullopt;
  const u32 size = u32{1} << (header->value & 3); // of an entry that leads to a block
  const Address entry = image_ + header->end + u64{size} * (index / block);
  std::optional<u32> start = std::nullopt;
  if (size == 1)
    start = memory_->try_load<u8>(entry);
  else if (size == 2)
    start = memory_->try_load<u16>(entry);
  else
    start = memory_->try_load<u32>(entry);
  if (!start)
    return std::nullopt;
  u32 at = header->end + *start;
  for (u32 bit = block / 2; bit > 0; bit /= 2) {
    const std::optional<Number> node = number(*memory_, image_, at);
    if (!node)
      return std::nullopt;
    const bool is_upper = index & bit;
    if (is_upper && (node->value & 2))
      at += node->value >> 2;
    else if (!is_upper && (node->value & 1))
      at = node->end;
    else if ((node->value & 3) == 0 && node->value >> 2 == index % block)
      return node->end; // the block's only entry
    else
      return std::nullopt;
  }
  return at;
}

} // namespace dnheap
