#include "objects/find_referrers.h"

#include "base/parallel.h"

namespace dnheap {

std::vector<ObjectId> find_referrers(const ObjectIndex &index, const References &references, Address object,
                                     unsigned threads, const Watch &watch) {
  Timer timer(watch, "referrers");
  const u64 blocks = index.places().blocks();
  std::vector<std::vector<ObjectId>> parts(blocks);
  std::vector<ReferenceReader> readers(std::max(threads, 1u), ReferenceReader(references));
  parallel_for(blocks, threads, [&](u64 block, unsigned worker) {
    watch.check();
    ReferenceReader &reader = readers[worker];
    index.for_each(block, [&](ObjectId id, Address address) {
      OpenedObject opened;
      if (!reader.open(address, opened))
        return;
      bool refers = false;
      reader.for_each(opened, [&](Address target) { refers |= target == object; });
      if (refers)
        parts[block].push_back(id);
    });
  });
  std::vector<ObjectId> out;
  for (const std::vector<ObjectId> &part : parts)
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

} // namespace dnheap
