// ObjectSizeColumn: the size of each object in the heap (aligned bytes), by ObjectId; four bytes per object.
// ObjectGraph fills one on its way. A caller that needs few sizes afterwards may free it and read it again: one
// parallel walk over the objects' first words.
#pragma once
#include "algorithms/object_sizes.h"
#include "heap/heap.h"
#include "objects/object_index.h"
#include "objects/references.h"

#include <mutex>

namespace dnheap {

class ObjectSizeColumn {
public:
  // All sizes are 0 until put() sets them.
  explicit ObjectSizeColumn(u64 objects) : bytes_(objects) {}
  // Reads the sizes of the heap's objects. Throws Interrupted.
  ObjectSizeColumn(const ObjectIndex &index, const References &references, const Heap &heap, unsigned threads,
                   const Watch &watch);

  // Several threads may call this at once for different objects.
  void put(ObjectId object, u64 size) {
    bytes_[static_cast<u32>(object)] = static_cast<u32>(std::min<u64>(size, ObjectSizes::in_large));
    if (size >= ObjectSizes::in_large) [[unlikely]]
      put_large(object, size);
  }
  // Call this after all put() calls. The view is valid as long as this object.
  ObjectSizes sizes() const { return {bytes_, large_}; }

private:
  void put_large(ObjectId object, u64 size);

  LargeArray<u32> bytes_;
  std::vector<ObjectSizes::Large> large_; // ascending
  std::mutex mutex_;                      // for these
};

} // namespace dnheap
