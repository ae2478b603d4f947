// ObjectIndex: which addresses are starts of objects, one bit per possible place: "is this an object?" is one look-up
// in a table of granules and one in a bitmap, whatever the heap looks like. Free space holds no objects. Takes 1/64 of
// the heap (1/32 on 32 bit); built in one parallel walk. Immutable afterwards; any number of threads may ask.
#pragma once
#include "base/watch.h"
#include "heap/heap.h"

#include <atomic>
#include <bit>

namespace dnheap {

class ObjectIndex {
public:
  // Throws Error when the heap is scattered so widely that no real one could be, Interrupted when told to stop.
  ObjectIndex(const Heap &heap, const Runtime &runtime, unsigned threads, const Watch &watch);

  u64 count() const { return count_; }
  bool is_object(Address address) const {
    const u64 *word = word_of(address);
    return word && *word >> (address >> unit_shift_ & 63) & 1 && (address & unit_mask_) == 0;
  }
  // Asks for what a later is_object() will read.
  void prefetch(Address address) const {
    if (const u64 *word = word_of(address))
      __builtin_prefetch(word);
  }

private:
  class Builder;
  static constexpr u32 no_block = ~u32{0};

  // Null outside the granules that objects lie in.
  const u64 *word_of(Address address) const {
    u64 granule = (address - lowest_) >> granule_shift_;
    if (address < lowest_ || granule >= blocks_.size() || blocks_[granule] == no_block)
      return nullptr;
    return &words_[blocks_[granule] * words_per_block_ + ((address & granule_mask_) >> word_shift_)];
  }
  void lay_out(const Heap &heap);

  Address lowest_ = 0; // a multiple of the granule
  unsigned granule_shift_ = 20, unit_shift_ = 3, word_shift_ = 9;
  u64 granule_mask_ = 0, unit_mask_ = 0, words_per_block_ = 0, count_ = 0;
  std::vector<u32> blocks_; // by granule
  std::vector<u64> words_;
};

} // namespace dnheap
