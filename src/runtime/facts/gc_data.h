// Data of the GC contract, version 1, on heaps, generations, segments, regions and failed allocations. Plain data,
// filled by Gc1 (gc_1.h); costs nothing, any code may hold it. An optional member is absent (never 0 or -1) when the
// runtime has no such value or does not publish its place, or when the value is not in the dump. Spec: dotnet/runtime
// docs/design/datacontracts/GC.md; structures: gc/gcinterface.dac.h.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct GCHeapSegmentData {
  Address address = 0; // of the heap_segment itself
  Address allocated = 0, committed = 0, reserved = 0, used = 0, mem = 0, next = 0;
  u64 flags = 0;
  std::optional<Address> background_allocated; // end of the part that a background GC scans; 0: the segment is newer
  std::optional<Address> heap;                 // the gc_heap that owns it; server GC only
};

// heap_segment flags, gc/gcpriv.h.
inline constexpr u64 heap_segment_flags_readonly = 1; // frozen (NonGC heap)

struct GCGenerationData {
  Address start_segment = 0;
  std::optional<Address> allocation_start; // absent in builds with regions (-1 in the specification)
  Address allocation_context_pointer = 0, allocation_context_limit = 0;
};

struct GCHeapData {
  Address address = 0; // of the gc_heap; 0 = the one heap of workstation GC
  Address alloc_allocated = 0;
  Address ephemeral_heap_segment = 0;
  std::vector<GCGenerationData> generation_table; // gen0, gen1, gen2, large objects, pinned objects
  // Background GC.
  std::optional<Address> mark_array, next_sweep_object;
  std::optional<Address> background_saved_min_address, background_saved_max_address;
  std::optional<Address> saved_sweep_ephemeral_segment, saved_sweep_ephemeral_start; // only builds without regions
  std::optional<Address> card_table;
  // Ends of the finalization queue's parts, see finalize_queue_parts().
  std::optional<std::vector<Address>> fill_pointers;
  // Objects that a heap analysis (the old !GCRoot) marked as roots; mostly null.
  std::optional<Address> internal_root_array;
  std::optional<u64> internal_root_array_index;
  std::optional<bool> heap_analyze_success;
  // Counters; gc_mechanisms_1.h explains each.
  std::optional<std::vector<u64>> interesting_data, compact_reasons, expand_mechanisms, interesting_mechanism_bits;
};

// One part of a heap's finalization queue: pointers to objects, [start, end) in the target.
struct GCFinalizeQueuePart {
  const char *name; // "poh", "loh", "gen2", "gen1", "gen0": not found dead yet; "critical", "ready": to be finalized
  Address start = 0, end = 0;
};
// Returns the parts in memory order. The contract publishes where each part ends, but not where the first one, "poh",
// begins: that part counts as empty, as it is in every runtime (gc/gc.cpp, CFinalize). Empty if the pointers do not
// ascend.
std::vector<GCFinalizeQueuePart> finalize_queue_parts(const GCHeapData &heap);

enum class GCSegmentGeneration : u8 { gen0, gen1, gen2, loh, poh, frozen };
inline constexpr u64 generation_count = 6;
const char *name_of(GCSegmentGeneration generation); // "gen0", …, "loh", "poh", "frozen"

// A range of the heap that holds objects: a region, a segment, or the part of the ephemeral segment that one generation
// occupies.
struct GCHeapSegmentInfo {
  GCSegmentGeneration generation = GCSegmentGeneration::gen0;
  Address segment = 0;
  Address start = 0, end = 0;                         // first object, end of objects
  std::optional<Address> committed_end, reserved_end; // absent if the runtime does not publish them
  std::optional<Address> used_end;                    // nothing beyond it was written since it was committed

  bool is_sound() const {
    Address committed = committed_end.value_or(end);
    return start <= end && end <= committed && committed <= reserved_end.value_or(committed);
  }
};

// A GCHeapSegmentInfo, with the heap that it belongs to.
struct GCHeapSegment : GCHeapSegmentInfo {
  u32 heap = 0; // number of the GC heap
};

struct AllocationContext {
  Address pointer = 0, limit = 0;
  bool operator==(const AllocationContext &) const = default;
};

// The kind of GC.
struct GCFlavour {
  std::vector<std::string> identifiers; // as the GC contract has them
  bool server = false, regions = false;
  u32 heaps = 1;
};

// The last time that the GC could not get memory. All zero: never (see happened()).
struct GCOomData {
  i32 reason = 0;                      // oom_reason
  u64 alloc_size = 0;                  // bytes that were requested
  Address reserved = 0, allocated = 0; // of the segment that was tried last
  u64 gc_index = 0;                    // number of the collection
  i32 fgm = 0;                         // failure_get_memory
  u64 size = 0;                        // bytes that the system refused
  u64 available_pagefile_mb = 0;       // MiB left at that time
  bool loh_p = false;                  // the request was for a large object
  bool happened() const { return reason != 0 || fgm != 0; }
};
// Returns the text for an oom_reason or failure_get_memory of gc/gcinterface.dac.h; "reason 9" for an unknown one.
std::string oom_reason_text(i32 reason);
std::string failure_get_memory_text(i32 fgm);

enum class FreeRegionKind : u8 {
  unknown = 0,
  global_huge_region = 1,
  global_region = 2, // waits to be decommitted
  region = 3,        // of one heap
  soh_segment = 4,   // freeable after a background GC
  uoh_segment = 5,
};
const char *name_of(FreeRegionKind kind); // "global_huge_region", …
// The sizes of regions. Each size has a free list of its own, in this order.
enum class RegionSize : u8 { basic, large, huge };
const char *name_of(RegionSize size); // "basic", "large", "huge"

// A range of memory that belongs to the GC but holds no objects.
struct GCMemoryRegionData {
  Address start = 0;
  u64 size = 0;                                  // committed bytes; for bookkeeping, reserved bytes
  FreeRegionKind kind = FreeRegionKind::unknown; // of free regions
  std::optional<RegionSize> region_size = {};    // of free regions in lists
  u32 heap = 0; // number of the heap; for handle tables, the number of the table (one per processor in server GC)
  bool operator==(const GCMemoryRegionData &) const = default;
};

} // namespace dnheap
