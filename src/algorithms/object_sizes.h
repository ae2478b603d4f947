// ObjectSizes: the size of each object in the heap (aligned bytes), four bytes per object. The few larger ones are in a
// list of their own. A view: whoever built the arrays owns them; any number of threads may read.
#pragma once
#include "algorithms/object_id.h"

#include <algorithm>
#include <span>

namespace dnheap {

struct ObjectSizes {
  struct Large {
    ObjectId object;
    u64 bytes;
  };
  static constexpr u32 in_large = ~u32{0}; // stands for a size of 4 GiB - 1 or more

  std::span<const u32> bytes;   // by ObjectId
  std::span<const Large> large; // by ObjectId, ascending

  u64 of(ObjectId object) const {
    u32 size = bytes[static_cast<u32>(object)];
    return size == in_large ? find_large(object) : size;
  }

private:
  u64 find_large(ObjectId object) const {
    auto at = std::lower_bound(large.begin(), large.end(), object,
                               [](const Large &entry, ObjectId id) { return entry.object < id; });
    return at != large.end() && at->object == object ? at->bytes : in_large;
  }
};

} // namespace dnheap
