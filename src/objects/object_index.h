// ObjectIndex: maps address ↔ ObjectId in constant time. Stores one bit per place where an object may begin, and counts
// of the bits before each 512 of them, so that an object's number is its rank. Takes 1/64 of the heap for the bits
// (1/32 on 32 bit) and a quarter of that for the counts. Immutable; any number of threads may ask.
#pragma once
#include "algorithms/object_id.h"
#include "base/count_bits.h"
#include "heap/heap_bits.h"

#include <bit>

namespace dnheap {

class ObjectIndex {
public:
  // `starts`: the heap's objects without Free ones, as tally_heap() finds them. O(places / 64). Throws Error when there
  // are more objects than ids. `most` is lowered by tests.
  explicit ObjectIndex(HeapBits starts, u64 most = most_objects);

  u64 count() const { return count_; }
  const HeapBits &starts() const { return starts_; }
  const HeapPlaces &places() const { return starts_.places(); }
  bool is_object(Address address) const { return starts_.test(address); }
  // Returns no_object if none begins there.
  ObjectId find(Address address) const { return at_place(places().find(address)); }
  ObjectId at_place(u64 place) const {
    if (place == HeapPlaces::nowhere || !(word(place / 64) >> (place % 64) & 1))
      return no_object;
    return ObjectId(static_cast<u32>(rank(place)));
  }
  // `object` must be below count().
  Address address(ObjectId object) const;
  // Returns the last object that begins at or before `address`, for pointers into objects. `address` may lie in a hole.
  // The caller must check that the object reaches that far.
  ObjectId last_at_or_before(Address address) const;

  // Prefetches the memory that a later at_place() will read.
  void prefetch(u64 place) const {
    __builtin_prefetch(&starts_.words()[place / 64]);
    __builtin_prefetch(&counts_[place / 512]);
  }

  // Calls visit(id, address) for the objects in a block of places(), in order. Blocks are units of work for threads.
  template <class Visit> void for_each(u64 block, Visit &&visit) const {
    const u64 first = block * (places().block_size() / 64), last = first + places().block_size() / 64;
    const Address start = places().block_address(block);
    u64 id = counts_[first / 8].before;
    for (u64 w = first; w < last; ++w)
      for (u64 bits = word(w); bits; bits &= bits - 1) {
        u64 place = (w - first) * 64 + static_cast<u64>(std::countr_zero(bits));
        visit(ObjectId(static_cast<u32>(id++)), start + (place << places().unit_shift()));
      }
  }
  // Returns the id of the first object in the block or after it; count() after the last block.
  u64 first_of(u64 block) const {
    return block < places().blocks() ? counts_[block * (places().block_size() / 512)].before : count_;
  }

private:
  // Counts for eight words: the bits before the first word, and, in seven fields of nine bits, the bits between it and
  // each other word.
  struct Count {
    u64 before = 0, within = 0;
    u64 in_front_of(u64 word) const { return word ? within >> (9 * (word - 1)) & 511 : 0; }
  };
  u64 word(u64 i) const { return starts_.words()[i]; }
  u64 rank(u64 place) const {
    const Count &count = counts_[place / 512];
    u64 before = word(place / 64) & ((u64{1} << (place % 64)) - 1);
    return count.before + count.in_front_of(place / 64 % 8) + count_bits(before);
  }

  HeapBits starts_;
  LargeArray<Count> counts_;
  std::vector<u32> samples_; // for every 4096th object its index in counts_
  u64 count_ = 0;
};

} // namespace dnheap
