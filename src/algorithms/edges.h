// Edges: which objects each object refers to, as flat arrays: the targets of object i are targets[first[i]] up to
// targets[first[i + 1]]. The same form, turned round, holds referrers. A view: whoever built the arrays owns them; any
// number of threads may read. An object may refer to itself, and to another one several times.
#pragma once
#include "algorithms/object_id.h"

#include <span>

namespace dnheap {

struct Edges {
  std::span<const u64> first; // one more than objects, ascending; empty = no objects
  std::span<const ObjectId> targets;

  u64 objects() const { return first.empty() ? 0 : first.size() - 1; }
  std::span<const ObjectId> of(ObjectId object) const {
    u64 begin = first[static_cast<u32>(object)];
    return targets.subspan(begin, first[static_cast<u32>(object) + 1] - begin);
  }
};

} // namespace dnheap
