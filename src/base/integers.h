// Fixed-width integers under short names, and Address: a place in the *target*, never a host pointer.
// Free of cost; any folder may include it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace dnheap {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// A virtual address in the target process. 32-bit targets use the low half.
using Address = u64;

// Round to a multiple of `alignment`, a power of two. Up wraps if value > 2^64 - alignment: callers check that first.
constexpr u64 align_down(u64 value, u64 alignment) { return value & ~(alignment - 1); }
constexpr u64 align_up(u64 value, u64 alignment) { return (value + alignment - 1) & ~(alignment - 1); }

// a + b, or the largest u64 where that would wrap: sizes from a dump are added with this and then compared.
constexpr u64 add_clamped(u64 a, u64 b) { return a > ~u64{0} - b ? ~u64{0} : a + b; }

} // namespace dnheap
