// GcBytesX86: the bytes of one method's GC info for x86, one after the other, and the numbers in them. Header and
// tables are read by it, so that one place knows how numbers are written and where reading ends: 1 MiB after the begin,
// at a byte that is not in the dump, or at the first broken rule. A few loads per number. Any thread, for itself.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "target/memory.h"

#include <optional>

namespace dnheap {

class GcBytesX86 {
public:
  static constexpr u64 most = 1 << 20;

  GcBytesX86(const Memory &memory, Address at) : memory_(memory), at_(at), end_(add_clamped(at, most)) {}

  const ReadOutcome &outcome() const { return outcome_; }
  bool is_done() const { return static_cast<bool>(outcome_); }
  Address at() const { return at_; }
  void move_to(Address at) { at_ = at; }
  void fail(const char *why) {
    if (outcome_)
      outcome_ = ReadOutcome::malformed(why);
  }

  // Returns 0 after a failure.
  u32 byte() { return take<u8>(); }
  u32 word() { return take<u32>(); }
  // Reads groups of seven bits, the topmost first.
  u32 number() { return rest_of(byte(), 0x7f); }
  i32 signed_number() {
    const u32 first = byte();
    const i32 value = static_cast<i32>(rest_of(first, 0x3f));
    return first & 0x40 ? -value : value;
  }
  void skip_numbers(u64 count) {
    for (u64 i = 0; i < count && outcome_; ++i)
      number();
  }

private:
  template <class T> u32 take() {
    if (!outcome_)
      return 0;
    const std::optional<T> value = at_ < end_ ? memory_.try_load<T>(at_) : std::nullopt;
    if (at_ >= end_)
      fail("it is too long");
    else if (!value)
      outcome_ = ReadOutcome::missing(at_);
    at_ += sizeof(T);
    return value.value_or(0);
  }
  u32 rest_of(u32 byte_read, u32 mask) {
    constexpr u32 most_groups = 5;
    u32 value = byte_read & mask;
    for (u32 i = 1; byte_read & 0x80; ++i) {
      if (i == most_groups)
        fail("a number that is too long");
      if (!outcome_)
        return 0;
      byte_read = byte();
      value = value << 7 | (byte_read & 0x7f);
    }
    return value;
  }

  const Memory &memory_;
  Address at_;
  const Address end_;
  ReadOutcome outcome_;
};

} // namespace dnheap
