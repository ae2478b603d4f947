// Alignments: the alignment that object sizes are rounded up to, for callers that visit objects by ascending address.
// It is the same throughout a range. Costs a step per range. Not for several threads at once.
#pragma once
#include "heap/heap.h"

#include <algorithm>

namespace dnheap {

class Alignments {
public:
  Alignments(const Heap &heap, Address from) : ranges_(heap.ranges()) {
    at_ = std::upper_bound(ranges_.begin(), ranges_.end(), from,
                           [](Address a, const ObjectRange &range) { return a < range.end(); });
  }
  u64 of(Address address) { // `address` must ascend from call to call
    while (at_ + 1 < ranges_.end() && at_->end() <= address)
      ++at_;
    return at_->alignment;
  }

private:
  std::span<const ObjectRange> ranges_;
  std::span<const ObjectRange>::iterator at_;
};

} // namespace dnheap
