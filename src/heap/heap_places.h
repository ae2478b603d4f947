// HeapPlaces: numbers all places of the heap where an object may begin, one per pointer, in address order, without the
// wide holes between segments. So a bit per place is 1/64 of the heap (1/32 on 32 bit). Address → place costs one
// look-up in a table of granules, which fits a processor's cache. Immutable; any thread.
#pragma once
#include "heap/heap.h"

namespace dnheap {

class HeapPlaces {
public:
  static constexpr u64 nowhere = ~u64{0};

  // Throws Error if the heap is scattered more widely than any real one.
  HeapPlaces(const Heap &heap, Format format);

  u64 count() const { return u64{granules_.size()} << block_shift_; }
  // Returns the place at an address; `nowhere` if no object can begin there.
  u64 find(Address address) const {
    u64 granule = (address - lowest_) >> granule_shift_;
    if (address < lowest_ || granule >= blocks_.size() || blocks_[granule] == no_block || (address & unit_mask_))
      return nowhere;
    return (u64{blocks_[granule]} << block_shift_) + ((address & granule_mask_) >> unit_shift_);
  }
  Address address(u64 place) const {
    return block_address(place >> block_shift_) + ((place & ((u64{1} << block_shift_) - 1)) << unit_shift_);
  }

  // Places come in blocks, one per granule that holds objects. A block's size is a power of two, at least 4096.
  u64 blocks() const { return granules_.size(); }
  u64 block_size() const { return u64{1} << block_shift_; }
  Address block_address(u64 block) const { return lowest_ + (u64{granules_[block]} << granule_shift_); }
  unsigned unit_shift() const { return unit_shift_; } // a place has 2^unit_shift() bytes

private:
  static constexpr u32 no_block = ~u32{0};

  Address lowest_ = 0; // a multiple of the granule
  unsigned granule_shift_ = 20, unit_shift_ = 3, block_shift_ = 17;
  u64 granule_mask_ = 0, unit_mask_ = 0;
  std::vector<u32> blocks_;   // by granule
  std::vector<u32> granules_; // by block, ascending
};

} // namespace dnheap
