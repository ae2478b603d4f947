#include "graph/find_referrers.h"

#include "base/parallel.h"

#include <algorithm>

namespace dnheap {

std::vector<ObjectId> find_referrers(const Edges &edges, ObjectId object, unsigned threads, const Watch &watch) {
  constexpr u64 chunk = 1 << 20;
  const std::span<const ObjectId> targets = edges.targets;
  std::vector<std::vector<ObjectId>> parts((targets.size() + chunk - 1) / chunk);
  parallel_for(parts.size(), threads, [&](u64 part, unsigned) {
    watch.check();
    const u64 end = std::min<u64>((part + 1) * chunk, targets.size());
    for (u64 i = part * chunk; i < end; ++i)
      if (targets[i] == object) {
        auto after = std::upper_bound(edges.first.begin(), edges.first.end(), i);
        parts[part].push_back(ObjectId(static_cast<u32>(after - edges.first.begin() - 1)));
      }
  });
  std::vector<ObjectId> out;
  for (const std::vector<ObjectId> &part : parts)
    out.insert(out.end(), part.begin(), part.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

} // namespace dnheap
