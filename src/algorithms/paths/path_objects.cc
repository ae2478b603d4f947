#include "algorithms/paths/path_objects.h"

#include "base/parallel.h"

namespace dnheap {

PathObjects::PathObjects(const ShortestPaths &found, u64 objects, std::span<const ObjectId> instances, unsigned threads,
                         const Watch &watch)
    : all(objects), inner(objects) {
  parallel_for_parts(instances.size(), 1 << 14, threads, [&](u64 begin, u64 end, unsigned) {
    watch.check();
    u64 steps = 0;
    for (u64 i = begin; i < end; ++i) {
      all.claim(instances[i]);
      std::optional<ObjectId> at = found.parent(instances[i]);
      for (; at && inner.claim(*at); at = found.parent(*at)) {
        all.claim(*at);
        if (++steps % 0x10000 == 0)
          watch.check();
      }
    }
  });
}

} // namespace dnheap
