#include "heap/heap_places.h"

#include "base/text.h"

namespace dnheap {

namespace {

constexpr u64 most_granules = 1 << 20;

} // namespace

HeapPlaces::HeapPlaces(const Heap &heap, Format format) {
  unit_shift_ = format.pointer_size == 8 ? 3 : 2;
  unit_mask_ = (u64{1} << unit_shift_) - 1;
  std::span<const ObjectRange> ranges = heap.ranges(); // by address
  if (!ranges.empty()) {
    Address end = ranges.back().end();
    while ((end - ranges.front().address) >> granule_shift_ >= most_granules)
      ++granule_shift_;
    lowest_ = ranges.front().address >> granule_shift_ << granule_shift_;
    blocks_.assign(((end - 1 - lowest_) >> granule_shift_) + 1, no_block);
  }
  granule_mask_ = (u64{1} << granule_shift_) - 1;
  block_shift_ = granule_shift_ - unit_shift_;
  u64 bytes = 0;
  for (const ObjectRange &range : ranges) {
    bytes += range.size;
    for (u64 g = (range.address - lowest_) >> granule_shift_; g <= (range.end() - 1 - lowest_) >> granule_shift_; ++g)
      if (blocks_[g] == no_block) {
        blocks_[g] = static_cast<u32>(granules_.size());
        granules_.push_back(static_cast<u32>(g));
      }
  }
  // A real heap fills its granules: needing bits for 64 times its size is implausible.
  u64 size = count() / 8;
  if (size > bytes + (u64{256} << 20))
    throw Error("the heap's " + bytes_text(bytes) + " lie scattered over " +
                bytes_text(ranges.back().end() - ranges.front().address) + ": an index of its objects would take " +
                bytes_text(size));
}

} // namespace dnheap
