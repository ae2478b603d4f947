#include "runtime/compiled/bit_reader.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 window_size = 4096;
constexpr unsigned most_bits = 64; // of a number

} // namespace

void BitReader::skip(u64 count, u64 bits_each) {
  const u64 most = limit_ * 8;
  if (bits_each && count > most / bits_each)
    return fail("a table is longer than the data that contains it");
  position_ += count * bits_each;
}

u64 BitReader::byte(u64 index) {
  if (index < window_at_ || index - window_at_ >= window_.size()) {
    window_ = memory_->peek_up_to(start_ + index, std::min(window_size, limit_ - index));
    window_at_ = index;
    if (window_.empty()) {
      outcome_ = ReadOutcome::missing(start_ + index);
      return 0;
    }
  }
  return static_cast<u64>(window_[index - window_at_]);
}

u64 BitReader::bits(unsigned count) {
  if (count == 0 || !ok())
    return 0;
  const u64 first = position_ / 8, last = (position_ + count - 1) / 8;
  if (last >= limit_ || position_ > limit_ * 8) {
    fail("it does not end");
    return 0;
  }
  u64 value = 0;
  for (u64 i = first; i <= last; ++i) {
    const u64 part = byte(i);
    if (!ok())
      return 0;
    value |= part << (8 * (i - first));
  }
  memory_->note_read(start_ + first, last - first + 1);
  value >>= position_ % 8;
  position_ += count;
  return value & ((u64{1} << count) - 1);
}

u64 BitReader::number(unsigned base) {
  u64 value = 0;
  for (unsigned shift = 0; shift + base <= most_bits; shift += base) {
    const u64 group = bits(base + 1);
    value |= (group & ((u64{1} << base) - 1)) << shift;
    if (!(group >> base))
      return value;
  }
  fail("a number has too many digits");
  return 0;
}

i64 BitReader::signed_number(unsigned base) {
  u64 value = 0;
  for (unsigned shift = 0; shift + base <= most_bits; shift += base) {
    const u64 group = bits(base + 1);
    value |= (group & ((u64{1} << base) - 1)) << shift;
    if (group >> base)
      continue;
    const unsigned unused = most_bits - shift - base;
    return static_cast<i64>(value << unused) >> unused;
  }
  fail("a number has too many digits");
  return 0;
}

u32 BitReader::number32(unsigned base) {
  const u64 value = number(base);
  if (value > 0xffffffffu)
    fail("a number is too large");
  return ok() ? static_cast<u32>(value) : 0;
}

} // namespace dnheap
