// tally_heap: one parallel walk that counts objects and bytes by type, generation and segment. Memory: a few hundred
// bytes per type and thread, nothing per object.
#pragma once
#include "heap/heap.h"
#include "heap/heap_bits.h"
#include "heap/object_bytes.h"
#include "heap/walk.h"

#include <array>

namespace dnheap {

struct Tally {
  u64 count = 0;
  u64 bytes = 0;         // as ClrMD and SOS report sizes
  u64 aligned_bytes = 0; // their size in the heap

  void add(const Tally &other) {
    count += other.count;
    bytes += other.bytes;
    aligned_bytes += other.aligned_bytes;
  }
  void subtract(const Tally &other) {
    count -= other.count;
    bytes -= other.bytes;
    aligned_bytes -= other.aligned_bytes;
  }
};

struct TypeTally {
  Address method_table = 0;
  std::array<Tally, generation_count> generations; // by GCSegmentGeneration
  Tally total() const;
};

struct SegmentTally {
  Tally objects; // Free not included
  Tally free;
};

// Chooses the objects to count. The walk itself always visits all of them.
struct ObjectFilter {
  u64 min_bytes = 0; // compared with the size that ClrMD reports
  u64 max_bytes = ~u64{0};
  std::optional<std::pair<Address, Address>> range; // [first, second): address of the object
  const HeapBits *among = nullptr;                  // only these
  const HeapBits *without = nullptr;                // not these
  const Heap *not_frozen = nullptr;                 // excludes objects in this heap's frozen segments
  std::shared_ptr<const HeapBits> referring = {};   // and only these
  bool everything() const {
    return min_bytes == 0 && max_bytes == ~u64{0} && !range && !among && !without && !not_frozen && !referring;
  }
  bool passes(const Object &object) const {
    return object.size >= min_bytes && object.size <= max_bytes &&
           (!range || (object.address >= range->first && object.address < range->second)) &&
           (!among || among->test(object.address)) && (!without || !without->test(object.address)) &&
           (!not_frozen || !not_frozen->is_frozen(object.address)) && (!referring || referring->test(object.address));
  }
};

struct HeapTally {
  std::vector<TypeTally> types;       // by MethodTable; only objects that pass the filter
  std::vector<SegmentTally> segments; // parallel to Heap::segments(); only objects that pass the filter
  WalkResult walk;                    // of all objects
};

// `starts`, if given, must be empty. It receives every object except Free ones, whatever the filter.
HeapTally tally_heap(const Heap &heap, const Runtime &runtime, unsigned threads, const Watch &watch,
                     const ObjectFilter &filter = {}, HeapBits *starts = nullptr);

// Counts those of `objects` that pass the filter, in address order, without a walk. All of `objects` must be known to
// be valid; `bytes` must be this heap's. HeapTally::walk stays empty.
HeapTally tally_objects(const Heap &heap, const Runtime &runtime, const ObjectBytes &bytes, const HeapBits &objects,
                        const ObjectFilter &filter, unsigned threads, const Watch &watch);

// Subtracts `some` from `all`; Free objects are left out. HeapTally::walk stays empty.
HeapTally without(const HeapTally &all, const HeapTally &some, Address free_object_method_table);

} // namespace dnheap
