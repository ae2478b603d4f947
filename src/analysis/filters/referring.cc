#include "analysis/filters/referring.h"

#include "analysis/objects/object_view.h"
#include "base/error.h"
#include "base/parallel.h"
#include "objects/references.h"

#include <algorithm>

namespace dnheap {

namespace {

// Objects of loh and poh are collected with gen2; frozen objects count as older than all, and are never collected.
constexpr u8 age_of(GCSegmentGeneration generation) {
  switch (generation) {
  case GCSegmentGeneration::gen0: return 0;
  case GCSegmentGeneration::gen1: return 1;
  case GCSegmentGeneration::frozen: return 3;
  default: return 2;
  }
}

// Returns nullopt for "younger".
std::optional<GCSegmentGeneration> generation_called(const std::string &word) {
  if (word == "younger")
    return std::nullopt;
  for (u8 g = 0; g < generation_count; ++g)
    if (word == name_of(static_cast<GCSegmentGeneration>(g)))
      return static_cast<GCSegmentGeneration>(g);
  throw UsageError("'" + word + "' is neither a generation nor 'younger'");
}

} // namespace

HeapBits objects_referring_to(const Snapshot &snapshot, const std::string &word) {
  const std::optional<GCSegmentGeneration> wanted = generation_called(word);
  const ObjectIndex &index = snapshot.index();
  const References &references = snapshot.references();
  const Heap &heap = snapshot.heap();
  Timer timer(snapshot.watch(), "referring objects");
  HeapBits out(index.starts().shared_places());
  const unsigned threads = std::max(snapshot.threads(), 1u);
  std::vector<ReferenceReader> readers(threads, ReferenceReader(references));
  parallel_for(index.places().blocks(), threads, [&](u64 block, unsigned worker) {
    snapshot.watch().check();
    ReferenceReader &reader = readers[worker];
    HeapBits::Writer writer(out);
    const ObjectRange *here = nullptr,
                      *there = nullptr; // neighbours refer to neighbours, so the last ranges mostly match again
    const auto range_at = [&](const ObjectRange *&last, Address address) {
      if (!last || address < last->address || address >= last->end())
        last = range_of(heap, address);
      return last && address < last->end() ? last : nullptr;
    };
    index.for_each(block, [&](ObjectId, Address address) {
      OpenedObject opened;
      if (!range_at(here, address) || !reader.open(address, opened))
        return;
      bool refers = false;
      reader.for_each(opened, [&](Address target) {
        if (!refers && range_at(there, target))
          refers = wanted ? there->generation == *wanted : age_of(there->generation) < age_of(here->generation);
      });
      if (refers)
        writer.add(address);
    });
    writer.flush();
  });
  return out;
}

} // namespace dnheap
