// CopyTag: the tag of an object while equal contents are collected (algorithms/equal_contents.h). sort_out_copies()
// chooses which of several equal objects is kept: a frozen one, which the GC never frees, else the one with the lowest
// address. Any thread.
#pragma once
#include "heap/heap_places.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <span>

namespace dnheap {

// An object's place, and whether its size in the heap is rounded up to more than a pointer (large objects on 32 bit).
struct CopyTag {
  static constexpr u64 wide = u64{1} << 63;
  static u64 of(u64 place, bool is_wide) { return place | (is_wide ? wide : 0); }
  static u64 place(u64 tag) { return tag & ~wide; }
  static u64 aligned_size(u64 tag, u64 size, u64 pointer_size) { return align_up(size, tag & wide ? 8 : pointer_size); }
};

// Moves the objects to keep to the front: all frozen ones or, if there are none, the first object. Returns their
// number. The others keep their order.
inline u64 sort_out_copies(std::span<u64> tags, const Heap &heap, const HeapPlaces &places) {
  const auto others = std::stable_partition(
      tags.begin(), tags.end(), [&](u64 tag) { return heap.is_frozen(places.address(CopyTag::place(tag))); });
  return std::max<u64>(static_cast<u64>(others - tags.begin()), 1);
}

} // namespace dnheap
