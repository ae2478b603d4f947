// ObjectBits: one bit per object, 6 MB for 46 million, so that it stays in a processor's cache where a column would
// not. Any number of threads may call test and claim at once; only one may call set and reset.
#pragma once
#include "algorithms/object_id.h"
#include "base/host/large_array.h"

#include <atomic>

namespace dnheap {

class ObjectBits {
public:
  ObjectBits() = default;
  explicit ObjectBits(u64 objects) : words_((objects + 63) / 64) {}

  bool test(u64 i) const { return words_[i / 64] >> (i % 64) & 1; }
  bool test(ObjectId object) const { return test(static_cast<u32>(object)); }
  void set(u64 i) { words_[i / 64] |= u64{1} << (i % 64); }
  void set(ObjectId object) { set(static_cast<u32>(object)); }
  void reset(ObjectId object) { words_[static_cast<u32>(object) / 64] &= ~(u64{1} << (static_cast<u32>(object) % 64)); }
  // Sets the bit. Returns true for the one caller who changed it.
  bool claim(u64 i) {
    u64 bit = u64{1} << (i % 64);
    std::atomic_ref<u64> word(words_[i / 64]);
    return !(word.load(std::memory_order_relaxed) & bit) && !(word.fetch_or(bit, std::memory_order_relaxed) & bit);
  }
  bool claim(ObjectId object) { return claim(static_cast<u32>(object)); }

  // Prefetches the memory that a later test() will read.
  void prefetch(ObjectId object) const { __builtin_prefetch(&words_[static_cast<u32>(object) / 64]); }

  // 64 objects per word; the first object has the lowest bit.
  LargeArray<u64> &words() { return words_; }
  const LargeArray<u64> &words() const { return words_; }

private:
  LargeArray<u64> words_;
};

} // namespace dnheap
