// ObjectSizeColumn: what each object takes in the heap (aligned bytes), by ObjectId; four bytes per object. ObjectGraph
// fills one on its way. Who asks for few sizes from then on may let it go and read it again: one parallel walk over the
// objects' first words.
#pragma once
#include "algorithms/object_sizes.h"
#include "heap/heap.h"
#include "objects/object_index.h"
#include "objects/references.h"

#include <mutex>

namespace dnheap {

class ObjectSizeColumn {
public:
  // All 0, to be put.
  explicit ObjectSizeColumn(u64 objects) : bytes_(objects) {}
  // Of the heap's objects. Throws Interrupted.
  ObjectSizeColumn(const ObjectIndex &index, const References &references, const Heap &heap, unsigned threads,
                   const Watch &watch);

  // Several threads at once, each other objects.
  void put(ObjectId object, u64 size) {
    bytes_[static_cast<u32>(object)] = static_cast<u32>(std::min<u64>(size, ObjectSizes::in_large));
    if (size >= ObjectSizes::in_large) [[unlikely]]
      put_large(object, size);
  }
  // When all are put; as long as this lives.
  ObjectSizes sizes() const { return {bytes_, large_}; }

private:
  void put_large(ObjectId object, u64 size);

  LargeArray<u32> bytes_;
  std::vector<ObjectSizes::Large> large_; // ascending
  std::mutex mutex_;                      // for these
};

} // namespace dnheap
