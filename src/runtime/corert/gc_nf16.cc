#include "runtime/corert/gc_nf16.h"

#include "base/text.h"

#include <algorithm>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 max_segments = 1 << 19;  // of one list
constexpr u32 max_generations = 64;    // CoreRT has four
constexpr u32 max_structure = 1 << 16; // limit for the bytes of a generation or a heap_segment
constexpr u32 max_min_object_size = 4096;

// Throws Error. The fields follow each other without gaps, except that the first pointer is aligned.
WorkstationGcNf16 read_workstation_gc(const Memory &memory, Address contract) {
  WorkstationGcNf16 out;
  const u64 p = memory.format().pointer_size;
  Address at = contract + p;
  for (Address *pointer : {&out.generation_table_addr, &out.alloc_allocated_addr, &out.ephemeral_heap_segment_addr}) {
    *pointer = memory.pointer(at, "the Workstation GC Contract");
    at += p;
  }
  for (u32 *word :
       {&out.number_generations, &out.generation_allocation_context, &out.generation_allocation_start,
        &out.generation_start_segment, &out.size_of_generation, &out.heap_segment_mem, &out.heap_segment_allocated,
        &out.heap_segment_next, &out.alloc_context_alloc_ptr, &out.alloc_context_alloc_limit, &out.min_object_size}) {
    *word = memory.u32_at(at, "the Workstation GC Contract");
    at += 4;
  }
  return out;
}

// Returns which of these fields has an impossible value; empty: none.
std::string unsound(const WorkstationGcNf16 &gc, u64 p) {
  auto is = [](const char *field, u64 value) { return std::string(field) + " is " + std::to_string(value); };
  if (gc.number_generations < 2 || gc.number_generations > max_generations)
    return is("number_generations", gc.number_generations);
  if (gc.size_of_generation > max_structure || gc.size_of_generation % p)
    return is("size_of_generation", gc.size_of_generation);
  auto fits = [&](u64 offset) { return offset + p <= gc.size_of_generation; };
  for (u32 offset : {gc.alloc_context_alloc_ptr, gc.alloc_context_alloc_limit})
    if (!fits(u64{gc.generation_allocation_context} + offset))
      return is("size_of_generation", gc.size_of_generation) + ", which its allocation context exceeds";
  if (!fits(gc.generation_allocation_start) || !fits(gc.generation_start_segment))
    return is("size_of_generation", gc.size_of_generation) + ", which its fields exceed";
  for (u32 offset : {gc.heap_segment_mem, gc.heap_segment_allocated, gc.heap_segment_next})
    if (offset > max_structure)
      return is("the offset of a field of heap_segment", offset);
  if (gc.min_object_size < p || gc.min_object_size > max_min_object_size || gc.min_object_size % p)
    return is("min_object_size", gc.min_object_size);
  return "";
}

// The table's last generation holds large objects; the one before it is the oldest of the others.
GCSegmentGeneration as_segment_generation(u64 generation, u64 count) {
  if (generation == count - 1)
    return GCSegmentGeneration::loh;
  return static_cast<GCSegmentGeneration>(std::min<u64>(generation, 2));
}

} // namespace

GcNf16::GcNf16(const Memory &memory, const Nf16Header &header)
    : memory_(&memory), gc_problem_(header.contract(Nf16Section::gc).problem),
      workstation_problem_(header.contract(Nf16Section::workstation_gc).problem) {
  const u64 p = memory.format().pointer_size;
  try {
    if (gc_problem_.empty())
      structures_invalid_ = memory.pointer(header.contract(Nf16Section::gc).address + p, "the GC Contract");
  } catch (const Error &e) {
    gc_problem_ = e.what();
  }
  try {
    if (workstation_problem_.empty()) {
      Address at = header.contract(Nf16Section::workstation_gc).address;
      gc_ = read_workstation_gc(memory, at);
      if (std::string why = unsound(gc_, p); !why.empty())
        workstation_problem_ = "the Workstation GC Contract at " + hex(at) + " is damaged: " + why;
    }
  } catch (const Error &e) {
    workstation_problem_ = e.what();
  }
}

std::optional<bool> GcNf16::get_gc_structures_valid() const {
  if (!gc_problem_.empty())
    return std::nullopt;
  return memory_->u32_at(structures_invalid_, "m_GcStructuresInvalidCnt") == 0;
}

const WorkstationGcNf16 &GcNf16::workstation_gc() const {
  if (!workstation_problem_.empty())
    throw Error("the heap cannot be read: " + workstation_problem_);
  return gc_;
}

AllocationContext GcNf16::read_context(Address address) const {
  return {memory_->pointer(address + gc_.alloc_context_alloc_ptr, "alloc_context.alloc_ptr"),
          memory_->pointer(address + gc_.alloc_context_alloc_limit, "alloc_context.alloc_limit")};
}

std::vector<GenerationNf16> GcNf16::get_generation_table() const {
  const WorkstationGcNf16 &gc = workstation_gc();
  std::vector<GenerationNf16> out(gc.number_generations);
  for (u64 i = 0; i < out.size(); ++i) {
    Address at = gc.generation_table_addr + i * gc.size_of_generation;
    out[i].allocation_context = read_context(at + gc.generation_allocation_context);
    out[i].allocation_start = memory_->pointer(at + gc.generation_allocation_start, "generation.allocation_start");
    out[i].start_segment = memory_->pointer(at + gc.generation_start_segment, "generation.start_segment");
  }
  return out;
}

Address GcNf16::get_alloc_allocated() const {
  return memory_->pointer(workstation_gc().alloc_allocated_addr, "alloc_allocated");
}

Address GcNf16::get_ephemeral_heap_segment() const {
  return memory_->pointer(workstation_gc().ephemeral_heap_segment_addr, "ephemeral_heap_segment");
}

HeapSegmentNf16 GcNf16::get_heap_segment(Address segment) const {
  const WorkstationGcNf16 &gc = workstation_gc();
  return {segment, memory_->pointer(segment + gc.heap_segment_mem, "heap_segment.mem"),
          memory_->pointer(segment + gc.heap_segment_allocated, "heap_segment.allocated"),
          memory_->pointer(segment + gc.heap_segment_next, "heap_segment.next")};
}

std::vector<HeapSegmentNf16> GcNf16::segment_list(Address first, u64 generation, Notes &notes) const {
  const std::string list = "the segment list of generation " + std::to_string(generation);
  std::vector<HeapSegmentNf16> out;
  std::unordered_set<Address> seen;
  for (Address at = first; at; at = out.back().next) {
    if (!seen.insert(at).second) {
      notes.add(Subject::heap, Effect::numbers, list + " runs in a circle at " + hex(at));
      break;
    }
    if (out.size() >= max_segments) {
      notes.add(Subject::heap, Effect::numbers, list + " is longer than " + std::to_string(max_segments));
      break;
    }
    try {
      out.push_back(get_heap_segment(at));
    } catch (const Error &e) {
      notes.add(Subject::heap, Effect::numbers, list + " breaks off: ", e);
      break;
    }
  }
  return out;
}

std::vector<GCHeapSegmentInfo> GcNf16::enumerate_heap_segments(Notes &notes) const {
  std::vector<GCHeapSegmentInfo> out;
  const std::vector<GenerationNf16> table = get_generation_table();
  const Address ephemeral = get_ephemeral_heap_segment(), alloc_allocated = get_alloc_allocated();
  bool seen_ephemeral = false;
  auto add = [&](u64 generation, const HeapSegmentNf16 &segment, Address start, Address end) {
    // This format does not show how much of the segment is committed or reserved.
    GCHeapSegmentInfo info;
    info.generation = as_segment_generation(generation, table.size());
    info.segment = segment.address;
    info.start = start;
    info.end = end;
    out.push_back(info);
  };
  // The oldest generation lies lowest. Each younger one begins at its allocation start.
  auto add_ephemeral = [&](u64 oldest, const HeapSegmentNf16 &segment) {
    Address start = segment.mem;
    for (u64 younger = oldest; younger-- > 0; start = table[younger].allocation_start)
      if (table[younger].allocation_start < start || table[younger].allocation_start > alloc_allocated) {
        notes.add(Subject::heap, Effect::numbers,
                  "the ephemeral segment at " + hex(segment.address) + " is not divided into generations");
        add(oldest, segment, segment.mem, alloc_allocated);
        return;
      }
    start = segment.mem;
    for (u64 generation = oldest; generation > 0; --generation) {
      Address end = table[generation - 1].allocation_start;
      add(generation, segment, start, end);
      start = end;
    }
    add(0, segment, start, alloc_allocated);
  };
  for (u64 generation : {table.size() - 2, table.size() - 1})
    for (const HeapSegmentNf16 &segment : segment_list(table[generation].start_segment, generation, notes)) {
      bool large = generation == table.size() - 1;
      seen_ephemeral |= segment.address == ephemeral;
      if (segment.address != ephemeral)
        add(generation, segment, segment.mem, segment.allocated);
      else if (large)
        add(generation, segment, segment.mem, alloc_allocated);
      else
        add_ephemeral(generation, segment);
    }
  if (!seen_ephemeral)
    notes.add(Subject::heap, Effect::numbers,
              "the ephemeral segment, " + hex(ephemeral) + ", is in no list of segments");
  return out;
}

std::pair<Address, Address> GcNf16::get_allocation_context_bounds() const {
  return {get_generation_table()[0].allocation_start, get_alloc_allocated()};
}

std::vector<AllocationContext> GcNf16::get_allocation_contexts(std::span<const Address> thread_contexts,
                                                               Notes &notes) const {
  std::vector<AllocationContext> out;
  const auto [low, high] = get_allocation_context_bounds();
  auto add = [&](AllocationContext context) {
    if (context.pointer == 0)
      return;
    if (context.pointer < low || context.limit < context.pointer || context.limit > high)
      notes.add(Subject::heap, Effect::numbers,
                "the allocation context " + hex(context.pointer) + " to " + hex(context.limit) +
                    " lies outside of generation 0 (" + hex(low) + " to " + hex(high) + ") and was not skipped");
    else
      out.push_back(context);
  };
  for (Address address : thread_contexts)
    try {
      add(read_context(address));
    } catch (const Error &e) {
      notes.add(Subject::heap, Effect::numbers,
                "an allocation context could not be read, so the heap walk does not skip it: ", e);
    }
  if (get_gc_structures_valid() != false) // as in Runtime::allocation_contexts()
    add(get_generation_table()[0].allocation_context);
  return out;
}

} // namespace dnheap
