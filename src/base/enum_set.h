// EnumSet: a set of values of an enum that counts 0, 1, 2 … up to 31. As cheap as the integer that it is, constexpr.
#pragma once
#include "base/integers.h"

#include <initializer_list>

namespace dnheap {

template <class E> class EnumSet {
public:
  constexpr EnumSet() = default;
  constexpr EnumSet(E one) : bits_(u32{1} << static_cast<u32>(one)) {}
  constexpr EnumSet(std::initializer_list<E> of) {
    for (E one : of)
      bits_ |= EnumSet(one).bits_;
  }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(E one) const { return (bits_ & EnumSet(one).bits_) != 0; }
  constexpr bool has_all(EnumSet of) const { return (bits_ & of.bits_) == of.bits_; }
  constexpr bool meets(EnumSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr EnumSet &operator|=(EnumSet other) { return bits_ |= other.bits_, *this; }
  constexpr EnumSet without(EnumSet other) const { return EnumSet(bits_ & ~other.bits_); }
  friend constexpr EnumSet operator|(EnumSet a, EnumSet b) { return EnumSet(a.bits_ | b.bits_); }
  friend constexpr EnumSet operator&(EnumSet a, EnumSet b) { return EnumSet(a.bits_ & b.bits_); }
  friend constexpr bool operator==(EnumSet, EnumSet) = default;
  // The bit of each value is 1 << value.
  constexpr u32 bits() const { return bits_; }
  static constexpr EnumSet of_bits(u32 bits) { return EnumSet(bits); }

private:
  constexpr explicit EnumSet(u32 bits) : bits_(bits) {}
  u32 bits_ = 0;
};

} // namespace dnheap
