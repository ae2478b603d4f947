#include "algorithms/zero_elements.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 elements_at_once = 4096; // checks `most_others` after each so many elements

template <class T> u64 others_in(const std::byte *at, u64 count) {
  u64 out = 0;
  for (u64 i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, at + i * sizeof(T), sizeof value);
    out += value != 0;
  }
  return out;
}

u64 others_in(const std::byte *at, u64 count, u64 size) {
  switch (size) {
  case 1: return others_in<u8>(at, count);
  case 2: return others_in<u16>(at, count);
  case 4: return others_in<u32>(at, count);
  case 8: return others_in<u64>(at, count);
  }
  u64 out = 0;
  for (u64 i = 0; i < count; ++i)
    out += std::any_of(at + i * size, at + (i + 1) * size, [](std::byte b) { return b != std::byte{0}; });
  return out;
}

} // namespace

std::optional<u64> zero_elements(Bytes bytes, u64 size, u64 most_others) {
  if (size == 0)
    return std::nullopt;
  const u64 count = bytes.size() / size;
  u64 others = 0;
  for (u64 at = 0; at < count; at += elements_at_once) {
    others += others_in(bytes.data() + at * size, std::min(elements_at_once, count - at), size);
    if (others > most_others)
      return std::nullopt;
  }
  return count - others;
}

} // namespace dnheap
