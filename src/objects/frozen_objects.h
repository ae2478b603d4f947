// Frozen objects: objects in segments that the GC never collects (string literals, and from .NET 8 on boxed statics and
// types). They are never dead, even if no known root holds them. O(1) memory; any thread.
#pragma once
#include "heap/heap.h"
#include "objects/object_index.h"

#include <functional>

namespace dnheap {

struct FrozenObjects {
  u64 objects = 0, bytes = 0;
};

// Returns the frozen objects that no root reaches. `is_held`: true if roots reach the object. `size_of`: its size, as
// the caller counts sizes.
FrozenObjects frozen_alone(const Heap &heap, const ObjectIndex &index, const std::function<bool(ObjectId)> &is_held,
                           const std::function<u64(ObjectId)> &size_of);

} // namespace dnheap
