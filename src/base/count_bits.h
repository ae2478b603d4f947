// count_bits: how many bits of a word are set. For loops that ask for each reference: std::popcount is a call where the
// program may not take the processor's instruction for granted, and the oldest x86-64 have none.
#pragma once
#include "base/integers.h"

namespace dnheap {

constexpr u64 count_bits(u64 word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
}

} // namespace dnheap
