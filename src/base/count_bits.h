// count_bits: how many bits of a word are set. For loops that ask for each reference: std::popcount is a call where the
// program may not take the processor's instruction for granted, and the oldest x86-64 have none. for_each_bit: which.
#pragma once
#include "base/integers.h"

#include <bit>

namespace dnheap {

constexpr u64 count_bits(u64 word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
}

// visit(number) for each bit that is set, the lowest, 0, first.
template <class Visit> void for_each_bit(u64 word, Visit &&visit) {
  for (; word; word &= word - 1)
    visit(static_cast<u64>(std::countr_zero(word)));
}

} // namespace dnheap
