// Edges: the objects that each object refers to, as flat arrays: the targets of object i are targets[begin(i)] up to
// targets[begin(i + 1)]. The same arrays with edges reversed hold the referrers. A view: whoever built the arrays owns
// them; any number of threads may read. An object may refer to itself, and several times to another one.
#pragma once
#include "algorithms/object_id.h"

#include <algorithm>
#include <span>

namespace dnheap {

struct Edges {
  std::span<const u64> first; // objects + 1 entries, ascending; empty = no objects
  std::span<const ObjectId> targets;
  std::span<const u32> short_first = {}; // replaces `first` if there are fewer than 4 billion references

  u64 objects() const { return std::max(std::max(first.size(), short_first.size()), u64{1}) - 1; }
  u64 begin(u64 i) const { return short_first.empty() ? first[i] : short_first[i]; }
  std::span<const ObjectId> of(ObjectId object) const {
    const u64 at = begin(static_cast<u32>(object));
    return targets.subspan(at, begin(u64{static_cast<u32>(object)} + 1) - at);
  }
  // Prefetches the memory that begin(i) will read.
  void prefetch(u64 i) const {
    if (short_first.empty())
      __builtin_prefetch(&first[i]);
    else
      __builtin_prefetch(&short_first[i]);
  }
  // Prefetches the targets of object i; reads begin(i).
  void prefetch_targets(u64 i) const { __builtin_prefetch(targets.data() + begin(i)); }
  // Calls visit(object, its targets) for each of the objects, and prefetches what the calls after it will need.
  template <class Visit> void for_each_of(std::span<const u32> objects, Visit visit) const {
    constexpr u64 ahead = 16;
    for (u64 i = 0; i < objects.size(); ++i) {
      if (i + ahead < objects.size())
        prefetch(objects[i + ahead]);
      if (i + ahead / 2 < objects.size())
        prefetch_targets(objects[i + ahead / 2]);
      visit(objects[i], of(ObjectId{objects[i]}));
    }
  }
};

} // namespace dnheap
