// GC contract: segments and regions, and the ranges of objects in them.
#include "base/text.h"
#include "runtime/gc/gc_1.h"

#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 max_segments_per_generation = 1 << 19; // in all heaps: 2 TiB of 4 MiB regions

} // namespace

const char *name_of(GCSegmentGeneration generation) {
  static constexpr const char *names[] = {"gen0", "gen1", "gen2", "loh", "poh", "frozen"};
  return names[static_cast<u8>(generation)];
}

GCHeapSegmentData Gc1::get_heap_segment_data(Address segment) const {
  auto member = [&](const char *field) {
    return memory_->pointer(segment + static_cast<u64>(descriptor_->offset("HeapSegment", field)), field);
  };
  GCHeapSegmentData out;
  out.address = segment;
  out.allocated = member("Allocated");
  out.committed = member("Committed");
  out.reserved = member("Reserved");
  out.used = member("Used");
  out.mem = member("Mem");
  out.flags = member("Flags");
  out.next = member("Next");
  auto optional_member = [&](const char *field) {
    std::optional<i64> offset = descriptor_->try_offset("HeapSegment", field);
    return offset ? memory_->try_pointer(segment + static_cast<u64>(*offset)) : std::nullopt;
  };
  out.background_allocated = optional_member("BackgroundAllocated");
  out.heap = optional_member("Heap");
  return out;
}

std::vector<GCHeapSegmentData> Gc1::segment_list(Address first, const std::string &list, Notes &notes) const {
  std::vector<GCHeapSegmentData> out;
  std::unordered_set<Address> seen;
  const u64 most = max_segments_per_generation / get_gc_heap_count();
  for (Address at = first; at;) {
    if (!seen.insert(at).second) {
      notes.add(Subject::heap, Effect::numbers, "the segment list of " + list + " runs in a circle at " + hex(at));
      break;
    }
    if (out.size() >= most) {
      notes.add(Subject::heap, Effect::numbers,
                "the segment list of " + list + " is longer than " + std::to_string(most));
      break;
    }
    try {
      out.push_back(get_heap_segment_data(at));
    } catch (const Error &e) {
      notes.add(Subject::heap, Effect::numbers, "the segment list of " + list + " breaks off: ", e);
      break;
    }
    at = out.back().next;
  }
  return out;
}

// Segments without regions: gen2, gen1 and gen0 share the ephemeral segment, oldest at the lowest address; each ends at
// the allocation start of the next.
void Gc1::add_ephemeral_segment(const GCHeapData &heap, const GCHeapSegmentData &segment,
                                std::vector<GCHeapSegmentInfo> &to) const {
  Address gen1 = heap.generation_table[1].allocation_start.value_or(0);
  Address gen0 = heap.generation_table[0].allocation_start.value_or(0);
  Address end = heap.alloc_allocated;
  if (!(segment.mem <= gen1 && gen1 <= gen0 && gen0 <= end && end <= segment.reserved))
    throw Error("the ephemeral segment at " + hex(segment.address) + " is not divided into generations");
  GCHeapSegmentInfo part;
  part.segment = segment.address;
  part.committed_end = segment.committed;
  part.reserved_end = segment.reserved;
  part.used_end = segment.used;
  auto add = [&](GCSegmentGeneration generation, Address from, Address until) {
    part.generation = generation;
    part.start = from;
    part.end = until;
    to.push_back(part);
  };
  add(GCSegmentGeneration::gen2, segment.mem, gen1);
  add(GCSegmentGeneration::gen1, gen1, gen0);
  add(GCSegmentGeneration::gen0, gen0, end);
}

std::vector<GCHeapSegmentInfo> Gc1::enumerate_heap_segments(const GCHeapData &heap, Notes &notes) const {
  std::vector<GCHeapSegmentInfo> out;
  auto add_list = [&](u64 generation, GCSegmentGeneration as) {
    if (generation >= heap.generation_table.size())
      return;
    for (const GCHeapSegmentData &s :
         segment_list(heap.generation_table[generation].start_segment, name_of(as), notes)) {
      bool ephemeral = s.address == heap.ephemeral_heap_segment;
      if (ephemeral && !has_regions()) {
        add_ephemeral_segment(heap, s, out);
        continue;
      }
      GCHeapSegmentInfo info;
      info.generation = s.flags & heap_segment_flags_readonly ? GCSegmentGeneration::frozen : as;
      info.segment = s.address;
      info.start = s.mem;
      info.end = ephemeral ? heap.alloc_allocated : s.allocated;
      info.committed_end = s.committed;
      info.reserved_end = s.reserved;
      info.used_end = s.used;
      out.push_back(info);
    }
  };
  add_list(2, GCSegmentGeneration::gen2);
  if (has_regions()) {
    add_list(1, GCSegmentGeneration::gen1);
    add_list(0, GCSegmentGeneration::gen0);
  }
  add_list(3, GCSegmentGeneration::loh);
  add_list(4, GCSegmentGeneration::poh);
  return out;
}

} // namespace dnheap
