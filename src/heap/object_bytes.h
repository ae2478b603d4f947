// ObjectBytes: maps an object's address to its bytes, for visiting objects in any order. One look-up in a table of
// granules. Ranges that lie in several pieces of the dump are gathered at construction, into memory of their size; the
// others are not copied. Immutable; any thread.
#pragma once
#include "heap/heap.h"

namespace dnheap {

class ObjectBytes {
public:
  ObjectBytes(const Heap &heap, const Memory &memory);

  // Returns the bytes from `address` to the end of its ObjectRange; empty outside of all.
  Bytes from(Address address) const {
    u64 granule = (address - lowest_) >> granule_shift_;
    if (address < lowest_ || granule >= first_.size())
      return {};
    const Stretch *s = &stretches_[first_[granule]];
    if (address >= s->end)
      s = find(address, granule);
    if (address < s->start || address >= s->end)
      return {};
    return {s->bytes + (address - s->start), s->end - address};
  }

private:
  struct Stretch {
    Address start, end;
    const std::byte *bytes;
  };
  const Stretch *find(Address address, u64 granule) const;

  Address lowest_ = 0;
  unsigned granule_shift_ = 20;
  std::vector<u32> first_;         // by granule: the first stretch that ends in or after it
  std::vector<Stretch> stretches_; // by address; the last one is empty
  std::vector<std::vector<std::byte>> gathered_;
};

} // namespace dnheap
