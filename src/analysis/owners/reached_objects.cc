#include "analysis/owners/reached_objects.h"

#include "base/parallel.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"
#include "objects/references.h"

#include <algorithm>

namespace dnheap {

ReachedObjects::ReachedObjects(const Snapshot &snapshot, const DominatorTree &tree)
    : all(snapshot.index().starts().shared_places()) {
  const ObjectIndex &index = snapshot.index();
  const ObjectGraph &graph = snapshot.graph();
  // Uses the array of all sizes if the snapshot has it, because the sizes in the tree are scattered in memory.
  const std::optional<ObjectSizes> sizes = snapshot.has_sizes() ? std::optional(snapshot.sizes()) : std::nullopt;
  const Heap &heap = snapshot.heap();
  const u32 types = snapshot.references().types().size();
  Timer timer(snapshot.watch(), "live objects");
  struct Part {
    std::vector<u64> by_type, by_segment;
  };
  std::vector<Part> parts(std::max(snapshot.threads(), 1u));
  for (Part &part : parts) {
    part.by_type.resize(types);
    part.by_segment.resize(heap.segments().size());
  }
  const std::span<const ObjectRange> ranges = heap.ranges();
  parallel_for(index.places().blocks(), snapshot.threads(), [&](u64 block, unsigned worker) {
    snapshot.watch().check();
    Part &to = parts[worker];
    HeapBits::Writer writer(all);
    u64 range = 0; // the range that contained the previous object
    index.for_each(block, [&](ObjectId object, Address address) {
      const std::optional<TreePlace> place = tree.place(object);
      if (!place)
        return;
      writer.add(address);
      if (const u32 type = static_cast<u32>(graph.type(object)); type < types)
        ++to.by_type[type];
      if (range == ranges.size() || address < ranges[range].address || address >= ranges[range].end()) {
        auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](Address at, const ObjectRange &of) { return at < of.address; });
        if (after == ranges.begin())
          return;
        range = static_cast<u64>(after - ranges.begin()) - 1;
      }
      if (ranges[range].generation != GCSegmentGeneration::frozen)
        to.by_segment[ranges[range].segment] += sizes ? sizes->of(object) : tree.own_bytes(*place);
    });
    writer.flush();
  });
  by_type.resize(types);
  by_segment.segments.resize(heap.segments().size());
  for (const Part &part : parts) {
    for (u32 type = 0; type < types; ++type)
      by_type[type] += part.by_type[type];
    for (u64 s = 0; s < part.by_segment.size(); ++s)
      by_segment.segments[s].objects.aligned_bytes += part.by_segment[s];
  }
}

} // namespace dnheap
