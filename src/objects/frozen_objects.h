// Frozen objects: what lies in segments that the GC never collects (string literals, boxed statics and types of .NET 8
// on). Whether or not a root is seen to hold them, they stay: they are never dead. O(1) memory; any thread.
#pragma once
#include "heap/heap.h"
#include "objects/object_index.h"

#include <functional>

namespace dnheap {

struct FrozenObjects {
  u64 objects = 0, bytes = 0;
};

// Those that nothing else is seen to hold. `is_held`: do roots reach it? `size_of`: as whoever asks counts.
FrozenObjects frozen_alone(const Heap &heap, const ObjectIndex &index, const std::function<bool(ObjectId)> &is_held,
                           const std::function<u64(ObjectId)> &size_of);

} // namespace dnheap
