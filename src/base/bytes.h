// Bytes of the target as the host holds them, and how to load integers of any width and byte order from them.
// Loads are a memcpy and, for a foreign byte order, one swap: unaligned data is legal. The unchecked loads are for
// loops that have checked the size themselves; everything else uses load_at(), which is empty when out of range.
#pragma once
#include "base/integers.h"

#include <bit>
#include <concepts>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace dnheap {

// All memory of the target is held in this form, so an Address can never be dereferenced by mistake.
using Bytes = std::span<const std::byte>;

enum class ByteOrder : u8 { little, big };

// How the target lays out integers. Passed by value; hot loops keep a local copy so that the compiler unswitches them.
struct Format {
  u8 pointer_size = 8; // 4 or 8
  ByteOrder byte_order = ByteOrder::little;

  bool operator==(const Format &) const = default;
};

constexpr u16 swap_bytes(u16 v) { return __builtin_bswap16(v); }
constexpr u32 swap_bytes(u32 v) { return __builtin_bswap32(v); }
constexpr u64 swap_bytes(u64 v) { return __builtin_bswap64(v); }

constexpr bool is_native(ByteOrder order) {
  return (order == ByteOrder::little) == (std::endian::native == std::endian::little);
}

// Unchecked: `p` must have sizeof(T) bytes.
template <std::unsigned_integral T> T load(const std::byte *p, ByteOrder order) {
  T v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (sizeof(T) > 1)
    if (!is_native(order))
      v = swap_bytes(v);
  return v;
}

// Unchecked: a pointer-sized word, zero-extended.
inline u64 load_pointer(const std::byte *p, Format format) {
  return format.pointer_size == 8 ? load<u64>(p, format.byte_order) : load<u32>(p, format.byte_order);
}

// `size` bytes at `offset`, or an empty span when any of them lies outside.
inline Bytes slice(Bytes bytes, u64 offset, u64 size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    return {};
  return bytes.subspan(offset, size);
}

template <std::unsigned_integral T> std::optional<T> load_at(Bytes bytes, u64 offset, ByteOrder order) {
  Bytes at = slice(bytes, offset, sizeof(T));
  if (at.empty())
    return std::nullopt;
  return load<T>(at.data(), order);
}

inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char *>(bytes.data()), bytes.size()}; }

// The text at `offset` up to its NUL, at most `limit` characters; empty when there is none.
inline std::string_view text_at(Bytes bytes, u64 offset, u64 limit = 4096) {
  if (offset >= bytes.size())
    return {};
  std::string_view text = as_text(bytes.subspan(offset));
  text = text.substr(0, limit);
  return text.substr(0, text.find('\0'));
}

} // namespace dnheap
