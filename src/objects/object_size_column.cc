#include "objects/object_size_column.h"

#include "base/parallel.h"
#include "objects/alignments.h"

#include <algorithm>

namespace dnheap {

ObjectSizeColumn::ObjectSizeColumn(const ObjectIndex &index, const References &references, const Heap &heap,
                                   unsigned threads, const Watch &watch)
    : bytes_(index.count()) {
  Timer timer(watch, "sizes", heap.segment_bytes());
  parallel_for(index.places().blocks(), std::max(threads, 1u), [&](u64 block, unsigned) {
    watch.check();
    ReferenceReader reader(references);
    Alignments alignments(heap, index.places().block_address(block));
    index.for_each(block, [&](ObjectId id, Address address) {
      if (OpenedObject object; reader.open(address, object))
        put(id, align_up(object.size, alignments.of(address)));
    });
    if (Progress *progress = watch.progress)
      progress->done += index.places().block_size() << index.places().unit_shift();
  });
}

void ObjectSizeColumn::put_large(ObjectId object, u64 size) {
  const std::lock_guard lock(mutex_);
  const auto after = std::ranges::upper_bound(large_, object, {}, &ObjectSizes::Large::object);
  large_.insert(after, {object, size});
}

} // namespace dnheap
