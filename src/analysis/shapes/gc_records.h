// GcRecords: the GC's own records of its last collections, from which it answers GC.GetGCMemoryInfo(): the last one of
// young generations, the last blocking one of all generations, and the last two background ones. No symbol leads to
// them. They are found among the variables of the library that has the GC by their sums: the sizes of all generations
// after a collection are the heap's, and so are the holes; anything else that passes would be a contradiction to the
// bounds of the rest. The records have the same fields from .NET 5 on. One pass over the variables, below a megabyte.
// Kept. Throws Interrupted. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <array>
#include <vector>

namespace dnheap {

struct GcRecord {
  struct Generation {
    u64 size_before = 0, holes_before = 0, size_after = 0, holes_after = 0;
    // Returns the bytes of objects that the collection freed, as far as the generation did not grow.
    u64 freed() const;
  };
  Address address = 0;
  u64 collection = 0; // its number, counted from 1
  u64 committed = 0, promoted = 0, pinned_objects = 0, finalized = 0;
  u64 pause_us = 0;        // both pauses of a background collection
  double pause_share = 0;  // of all time since the process started, in pauses, up to this collection
  u64 heap = 0, holes = 0; // after it
  u32 load = 0;            // percent of the machine's or container's memory in use
  u32 generation = 0;      // the oldest one that was collected
  bool is_compacting = false, is_concurrent = false;
  std::array<Generation, 5> generations = {}; // gen0, gen1, gen2, large objects, pinned objects

  u64 freed() const;
};

struct GcRecords {
  std::vector<GcRecord> list; // by collection, the newest first; empty: there was none yet, or they are not known
  const GcRecord *newest() const { return list.empty() ? nullptr : &list.front(); }
};

GcRecords find_gc_records(const Snapshot &snapshot);

} // namespace dnheap
