// count_bits: returns how many bits of a word are set. For loops over all references: there std::popcount would be a
// function call, as the oldest x86-64 processors lack the instruction and the compiler must not use it. for_each_bit:
// visits the set bits.
#pragma once
#include "base/integers.h"

#include <bit>

namespace dnheap {

constexpr u64 count_bits(u64 word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
}

// Calls visit(number) for each set bit, from the lowest (0) up.
template <class Visit> void for_each_bit(u64 word, Visit &&visit) {
  for (; word; word &= word - 1)
    visit(static_cast<u64>(std::countr_zero(word)));
}

} // namespace dnheap
