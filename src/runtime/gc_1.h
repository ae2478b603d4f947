// GC contract, version 1 ("c1" in .NET 11): the garbage collector's heaps, generations and segments.
// For .NET 8, 9 and 10, which publish no GC contract, runtime/layout/ derives a descriptor with the same names, so that
// this one reader serves them all. Spec: dotnet/runtime docs/design/datacontracts/GC.md.
// Construction resolves offsets once and reads nothing. Functions read the target at each call; lists are capped.
// Functions throw Error when something needed is unreadable; const functions may be called from any thread.
#pragma once
#include "contract/descriptor.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct GCHeapSegmentData {
  Address address = 0; // of the heap_segment itself
  Address allocated = 0, committed = 0, reserved = 0, used = 0, mem = 0, next = 0;
  u64 flags = 0;
};

// heap_segment flags, gc/gcpriv.h.
inline constexpr u64 heap_segment_flags_readonly = 1; // frozen (NonGC heap)

struct GCGenerationData {
  Address start_segment = 0;
  std::optional<Address> allocation_start; // absent in builds with regions
  Address allocation_context_pointer = 0, allocation_context_limit = 0;
};

struct GCHeapData {
  Address address = 0; // of the gc_heap; 0 = the one heap of workstation GC
  Address alloc_allocated = 0;
  Address ephemeral_heap_segment = 0;
  std::vector<GCGenerationData> generation_table; // gen0, gen1, gen2, large objects, pinned objects
};

enum class GCSegmentGeneration : u8 { gen0, gen1, gen2, loh, poh, frozen };
inline constexpr u64 generation_count = 6;
const char *name_of(GCSegmentGeneration generation); // "gen0", …, "loh", "poh", "frozen"

// A stretch of the heap that holds objects: a region, a segment, or the part of the ephemeral segment that one
// generation occupies.
struct GCHeapSegmentInfo {
  GCSegmentGeneration generation = GCSegmentGeneration::gen0;
  Address segment = 0;
  Address start = 0, end = 0;                         // first object, end of objects
  std::optional<Address> committed_end, reserved_end; // absent where the runtime does not say

  bool is_sound() const {
    Address committed = committed_end.value_or(end);
    return start <= end && end <= committed && committed <= reserved_end.value_or(committed);
  }
};

// The same, of a certain heap.
struct GCHeapSegment : GCHeapSegmentInfo {
  u32 heap = 0; // number of the GC heap
};

struct AllocationContext {
  Address pointer = 0, limit = 0;
};

// Which GC it is.
struct GCFlavour {
  std::vector<std::string> identifiers; // as the GC contract has them
  bool server = false, regions = false;
  u32 heaps = 1;
};

class Gc1 {
public:
  Gc1(const Memory &memory, const ContractDescriptor &descriptor);

  std::vector<std::string> get_gc_identifiers() const;
  bool is_server() const;
  bool has_regions() const;
  u32 get_gc_heap_count() const;
  bool get_gc_structures_valid() const;
  u32 get_max_generation() const;
  // {0, 0} where the runtime does not say.
  std::pair<Address, Address> get_gc_bounds() const;
  // The gc_heap of each heap of server GC; one 0 for workstation GC.
  std::vector<Address> get_gc_heaps() const;
  GCHeapData get_heap_data(Address heap) const;
  GCHeapSegmentData get_heap_segment_data(Address segment) const;
  // All segments of one heap, oldest generation first. Problems (a list that is cut short by missing memory or that
  // runs in a circle) end that list and are added to `problems`.
  std::vector<GCHeapSegmentInfo> enumerate_heap_segments(const GCHeapData &heap,
                                                         std::vector<std::string> &problems) const;
  // {0, 0} where the runtime has none.
  AllocationContext get_global_allocation_context() const;

  // Rounds an object's size up to what it takes in the heap.
  static u64 align_object_size(u64 size, Format format, bool large) {
    return align_up(size, large ? 8 : format.pointer_size);
  }

private:
  GCGenerationData read_generation(Address generation) const;
  std::vector<GCHeapSegmentData> segment_list(Address first, const char *list,
                                              std::vector<std::string> &problems) const;
  void add_ephemeral_segment(const GCHeapData &heap, const GCHeapSegmentData &segment,
                             std::vector<GCHeapSegmentInfo> &to) const;
  Address global_pointer(const char *name, const char *what) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
};

} // namespace dnheap
