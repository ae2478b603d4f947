// RankedBits: bits, and for each its rank: how many bits before it are set. So set bits are numbered in their order by
// one look: 16 bytes per 64 bits, which stay in a processor's cache where a column of numbers would not. Bits are set
// by one thread, then counted; any number of threads may ask from then on.
#pragma once
#include "base/count_bits.h"
#include "base/host/large_array.h"

namespace dnheap {

class RankedBits {
public:
  explicit RankedBits(u64 bits) : words_(bits / 64 + 1) {}

  void set(u64 i) { words_[i / 64].bits |= u64{1} << (i % 64); }
  // Call this after the last set().
  void count_up() {
    count_ = 0;
    for (Word &word : words_) {
      word.before = count_;
      count_ += count_bits(word.bits);
    }
  }

  u64 count() const { return count_; } // of set bits
  bool test(u64 i) const { return words_[i / 64].bits >> (i % 64) & 1; }
  u64 rank(u64 i) const {
    const Word &word = words_[i / 64];
    return word.before + count_bits(word.bits & ((u64{1} << (i % 64)) - 1));
  }
  void prefetch(u64 i) const { __builtin_prefetch(&words_[i / 64]); }

private:
  struct Word {
    u64 bits, before;
  };
  LargeArray<Word> words_;
  u64 count_ = 0;
};

} // namespace dnheap
