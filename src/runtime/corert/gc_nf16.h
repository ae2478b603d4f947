// The GC contracts of CoreRT's memory format (NF16), version 1.0: "GC" (can the heap be trusted?) and "Workstation GC"
// (the only flavour in this format): generations, segments, allocation contexts. Spec: corert-debug-format.md;
// doc/contracts.md lists the differences from it. Construction reads some twenty words; functions read the target at
// each call; lists are capped. Const functions may be called from any thread.
#pragma once
#include "base/notes.h"
#include "runtime/corert/nf16_header.h"
#include "runtime/facts/gc_data.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

// The fields of the Workstation GC contract, without the prefix "offset_of_".
struct WorkstationGcNf16 {
  Address generation_table_addr = 0;       // of the table itself
  Address alloc_allocated_addr = 0;        // of the variable
  Address ephemeral_heap_segment_addr = 0; // of the variable
  u32 number_generations = 0;
  u32 generation_allocation_context = 0, generation_allocation_start = 0, generation_start_segment = 0;
  u32 size_of_generation = 0;
  u32 heap_segment_mem = 0, heap_segment_allocated = 0, heap_segment_next = 0;
  u32 alloc_context_alloc_ptr = 0, alloc_context_alloc_limit = 0;
  u32 min_object_size = 0;
};

struct HeapSegmentNf16 {
  Address address = 0; // of the heap_segment itself
  Address mem = 0, allocated = 0, next = 0;
};

struct GenerationNf16 {
  AllocationContext allocation_context;
  Address allocation_start = 0, start_segment = 0;
};

class GcNf16 {
public:
  // Never throws: functions that need a contract throw if it is faulty.
  GcNf16(const Memory &memory, const Nf16Header &header);

  // Why the heap cannot be read, or why its state is unknown; empty: no problem.
  const std::string &gc_problem() const { return gc_problem_; }
  const std::string &workstation_gc_problem() const { return workstation_problem_; }

  // Nullopt if the GC contract cannot be used: gc_problem() has the reason.
  std::optional<bool> get_gc_structures_valid() const;

  // The following throw Error if the Workstation GC contract, or data that it leads to, cannot be read.
  const WorkstationGcNf16 &workstation_gc() const;
  std::vector<GenerationNf16> get_generation_table() const;
  Address get_alloc_allocated() const;
  Address get_ephemeral_heap_segment() const;
  HeapSegmentNf16 get_heap_segment(Address segment) const;
  // Returns both lists, oldest generation first. The ephemeral segment is divided at the allocation starts of its
  // generations, and ends at alloc_allocated. The reason for a list that ends early is added to `notes`.
  std::vector<GCHeapSegmentInfo> enumerate_heap_segments(Notes &notes) const;
  // Returns the context of generation 0, and those at `thread_contexts`: the specification leaves open where the
  // threads' contexts are. Null contexts are left out; contexts at impossible places are left out with a note.
  std::vector<AllocationContext> get_allocation_contexts(std::span<const Address> thread_contexts, Notes &notes) const;
  // All allocation contexts lie inside [first, second).
  std::pair<Address, Address> get_allocation_context_bounds() const;

  // Large objects are aligned to 8 bytes, all others to a pointer.
  static u64 align_object_size(u64 size, Format format, bool large) {
    return align_up(size, large ? 8 : format.pointer_size);
  }

private:
  AllocationContext read_context(Address address) const;
  std::vector<HeapSegmentNf16> segment_list(Address first, u64 generation, Notes &notes) const;

  const Memory *memory_;
  Address structures_invalid_ = 0; // address of the counter
  WorkstationGcNf16 gc_;
  std::string gc_problem_, workstation_problem_;
};

} // namespace dnheap
