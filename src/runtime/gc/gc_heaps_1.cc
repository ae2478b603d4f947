// GC contract: data of one heap.
#include "base/text.h"
#include "runtime/gc/gc_1.h"

namespace dnheap {

namespace {

std::string in_words(std::span<const char *const> words, i32 value, const char *what) {
  u64 index = static_cast<u32>(value);
  return index < words.size() ? words[index] : std::string(what) + " " + std::to_string(value);
}

} // namespace

std::vector<Address> Gc1::get_gc_heaps() const {
  u32 count = get_gc_heap_count();
  if (!is_server())
    return {0};
  Address table = global_pointer("Heaps", "the table of GC heaps");
  std::vector<Address> out(count);
  for (u64 i = 0; i < out.size(); ++i)
    out[i] = memory_->pointer(table + i * memory_->format().pointer_size, "an entry of the table of GC heaps");
  return out;
}

// Workstation: each member is a global GCHeapX of its own, whose number is the member's address. Server: member X of
// the gc_heap. In both, structures and arrays lie inline, whatever type the descriptor gives them; the specification
// dereferences OomData, but the runtime has no pointer there.
std::optional<Address> Gc1::find_heap_member(Address heap, const char *field) const {
  if (heap == 0)
    return descriptor_->try_number(std::string("GCHeap") + field);
  std::optional<i64> offset = descriptor_->try_offset("GCHeap", field);
  return offset ? std::optional(heap + static_cast<u64>(*offset)) : std::nullopt;
}

Address Gc1::heap_member(Address heap, const char *field) const {
  if (heap == 0)
    return descriptor_->number(std::string("GCHeap") + field);
  return heap + static_cast<u64>(descriptor_->offset("GCHeap", field));
}

void Gc1::check_heap(Address heap) const {
  if ((heap != 0) != is_server())
    throw Error(heap ? "workstation GC has a single heap, named 0; there is none at " + hex(heap)
                     : "server GC has several heaps; ask for each of get_gc_heaps()");
}

GCGenerationData Gc1::read_generation(Address generation) const {
  GCGenerationData out;
  Address context = generation + static_cast<u64>(descriptor_->offset("Generation", "AllocationContext"));
  out.allocation_context_pointer = memory_->pointer(
      context + static_cast<u64>(descriptor_->offset("GCAllocContext", "Pointer")), "Generation.AllocationContext");
  out.allocation_context_limit = memory_->pointer(
      context + static_cast<u64>(descriptor_->offset("GCAllocContext", "Limit")), "Generation.AllocationContext");
  out.start_segment = memory_->pointer(generation + static_cast<u64>(descriptor_->offset("Generation", "StartSegment")),
                                       "Generation.StartSegment");
  if (std::optional<i64> start = descriptor_->try_offset("Generation", "AllocationStart"))
    out.allocation_start = memory_->pointer(generation + static_cast<u64>(*start), "Generation.AllocationStart");
  return out;
}

GCHeapData Gc1::get_heap_data(Address heap) const {
  check_heap(heap);
  GCHeapData out;
  out.address = heap;
  out.alloc_allocated = memory_->pointer(heap_member(heap, "AllocAllocated"), "alloc_allocated");
  out.ephemeral_heap_segment = memory_->pointer(heap_member(heap, "EphemeralHeapSegment"), "ephemeral_heap_segment");
  u64 count = descriptor_->number("TotalGenerationCount");
  if (count < 4 || count > 16)
    throw Error("TotalGenerationCount is " + std::to_string(count));
  u64 size = descriptor_->size_of("Generation");
  Address table = heap_member(heap, "GenerationTable");
  for (u64 i = 0; i < count; ++i)
    out.generation_table.push_back(read_generation(table + i * size));

  auto word = [&](const char *field) {
    std::optional<Address> at = find_heap_member(heap, field);
    return at ? memory_->try_pointer(*at) : std::nullopt;
  };
  out.mark_array = word("MarkArray");
  out.next_sweep_object = word("NextSweepObj");
  out.background_saved_min_address = word("BackgroundMinSavedAddr");
  out.background_saved_max_address = word("BackgroundMaxSavedAddr");
  out.saved_sweep_ephemeral_segment = word("SavedSweepEphemeralSeg");
  out.saved_sweep_ephemeral_start = word("SavedSweepEphemeralStart");
  out.card_table = word("CardTable");
  std::optional<u64> queue = word("FinalizeQueue");
  std::optional<i64> fill = descriptor_->try_offset("CFinalize", "FillPointers");
  if (queue && *queue && fill)
    out.fill_pointers = words_at(*queue + static_cast<u64>(*fill), "CFinalizeFillPointersLength");
  out.internal_root_array = word("InternalRootArray");
  out.internal_root_array_index = word("InternalRootArrayIndex");
  if (std::optional<Address> at = find_heap_member(heap, "HeapAnalyzeSuccess"))
    if (std::optional<u32> success = memory_->try_load<u32>(*at)) // a BOOL: 32 bits
      out.heap_analyze_success = *success != 0;
  out.interesting_data = words_at(find_heap_member(heap, "InterestingData"), "InterestingDataLength");
  out.compact_reasons = words_at(find_heap_member(heap, "CompactReasons"), "CompactReasonsLength");
  out.expand_mechanisms = words_at(find_heap_member(heap, "ExpandMechanisms"), "ExpandMechanismsLength");
  out.interesting_mechanism_bits =
      words_at(find_heap_member(heap, "InterestingMechanismBits"), "InterestingMechanismBitsLength");
  return out;
}

GCOomData Gc1::get_oom_data(Address heap) const {
  check_heap(heap);
  Address at = heap_member(heap, "OomData");
  auto member = [&](const char *field) { return at + static_cast<u64>(descriptor_->offset("OomHistory", field)); };
  GCOomData out;
  out.reason = static_cast<i32>(memory_->u32_at(member("Reason"), "OomHistory.Reason"));
  out.alloc_size = memory_->pointer(member("AllocSize"), "OomHistory.AllocSize");
  out.reserved = memory_->pointer(member("Reserved"), "OomHistory.Reserved");
  out.allocated = memory_->pointer(member("Allocated"), "OomHistory.Allocated");
  out.gc_index = memory_->pointer(member("GcIndex"), "OomHistory.GcIndex");
  out.fgm = static_cast<i32>(memory_->u32_at(member("Fgm"), "OomHistory.Fgm"));
  out.size = memory_->pointer(member("Size"), "OomHistory.Size");
  out.available_pagefile_mb = memory_->pointer(member("AvailablePagefileMb"), "OomHistory.AvailablePagefileMb");
  out.loh_p = memory_->u32_at(member("LohP"), "OomHistory.LohP") != 0; // a BOOL: 32 bits
  return out;
}

std::vector<GCFinalizeQueuePart> finalize_queue_parts(const GCHeapData &heap) {
  if (!heap.fill_pointers || heap.fill_pointers->size() < 3)
    return {};
  const std::vector<Address> &ends = *heap.fill_pointers;
  const u64 generations = ends.size() - 2;
  static constexpr const char *names[] = {"gen0", "gen1", "gen2", "loh", "poh"};
  std::vector<GCFinalizeQueuePart> out;
  Address start = ends[0];
  for (u64 i = 0; i < ends.size(); ++i) {
    u64 generation = generations - 1 - i;
    const char *name = i == generations       ? "critical"
                       : i == generations + 1 ? "ready"
                       : generation < 5       ? names[generation]
                                              : "older";
    if (ends[i] < start)
      return {};
    out.push_back({name, start, ends[i]});
    start = ends[i];
  }
  return out;
}

std::string oom_reason_text(i32 reason) {
  static constexpr const char *words[] = {
      "none",
      "the budget was exceeded, and collecting did not help",
      "memory could not be committed",
      "memory could not be reserved",
      "no room for a large object",
      "the system was low on memory during a collection",
      "a full collection freed too little",
  };
  return in_words(words, reason, "reason");
}

std::string failure_get_memory_text(i32 fgm) {
  static constexpr const char *words[] = {
      "none",
      "a segment could not be reserved",
      "the beginning of a segment could not be committed",
      "the ephemeral segment could not be committed",
      "the GC's own tables could not grow",
      "the GC's own tables could not be committed",
  };
  return in_words(words, fgm, "failure");
}

} // namespace dnheap
