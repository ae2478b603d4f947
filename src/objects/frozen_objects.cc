#include "objects/frozen_objects.h"

namespace dnheap {

FrozenObjects frozen_alone(const Heap &heap, const ObjectIndex &index, const std::function<bool(ObjectId)> &is_held,
                           const std::function<u64(ObjectId)> &size_of) {
  FrozenObjects out;
  for (const ObjectRange &range : heap.ranges()) {
    if (range.generation != GCSegmentGeneration::frozen)
      continue;
    const ObjectId last = index.last_at_or_before(range.end() - 1);
    for (u32 i = last == no_object ? 0 : static_cast<u32>(last) + 1; i-- > 0;) {
      if (index.address(ObjectId{i}) < range.address)
        break;
      if (is_held(ObjectId{i}))
        continue;
      ++out.objects;
      out.bytes += size_of(ObjectId{i});
    }
  }
  return out;
}

} // namespace dnheap
