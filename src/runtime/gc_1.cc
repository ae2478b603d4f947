#include "runtime/gc_1.h"

#include "base/text.h"

#include <algorithm>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 max_segments_per_generation = 1 << 19; // of all heaps: 2 TiB of 4 MiB regions
constexpr u32 max_heaps = 4096;

} // namespace

const char *name_of(GCSegmentGeneration generation) {
  static constexpr const char *names[] = {"gen0", "gen1", "gen2", "loh", "poh", "frozen"};
  return names[static_cast<u8>(generation)];
}

Gc1::Gc1(const Memory &memory, const ContractDescriptor &descriptor) : memory_(&memory), descriptor_(&descriptor) {}

// "workstation, regions, background," → {"workstation", "regions", "background"}
std::vector<std::string> Gc1::get_gc_identifiers() const {
  const Global *global = descriptor_->find_global("GCIdentifiers");
  if (!global)
    descriptor_->number("GCIdentifiers"); // throws, and says why it is missing
  std::vector<std::string> out;
  std::string word;
  for (char c : global->text + ",") {
    if (c == ',') {
      if (!word.empty())
        out.push_back(word);
      word.clear();
    } else if (c != ' ') {
      word += c;
    }
  }
  return out;
}

bool Gc1::is_server() const {
  std::vector<std::string> ids = get_gc_identifiers();
  return std::find(ids.begin(), ids.end(), "server") != ids.end();
}

bool Gc1::has_regions() const {
  std::vector<std::string> ids = get_gc_identifiers();
  return std::find(ids.begin(), ids.end(), "regions") != ids.end();
}

u32 Gc1::get_gc_heap_count() const {
  if (!is_server())
    return 1;
  u32 count = memory_->u32_at(descriptor_->number("NumHeaps"), "the number of GC heaps");
  if (count == 0 || count > max_heaps)
    throw Error("the number of GC heaps at " + hex(descriptor_->number("NumHeaps")) + " is " + std::to_string(count));
  return count;
}

bool Gc1::get_gc_structures_valid() const {
  return memory_->u32_at(descriptor_->number("StructureInvalidCount"), "StructureInvalidCount") == 0;
}

u32 Gc1::get_max_generation() const { return memory_->u32_at(descriptor_->number("MaxGeneration"), "MaxGeneration"); }

std::pair<Address, Address> Gc1::get_gc_bounds() const {
  auto read = [&](const char *name) -> Address {
    std::optional<u64> variable = descriptor_->try_number(name);
    return variable ? memory_->try_pointer(*variable).value_or(0) : 0;
  };
  return {read("GCLowestAddress"), read("GCHighestAddress")};
}

Address Gc1::global_pointer(const char *name, const char *what) const {
  return memory_->pointer(descriptor_->number(name), what);
}

std::vector<Address> Gc1::get_gc_heaps() const {
  if (!is_server())
    return {0};
  Address table = global_pointer("Heaps", "the table of GC heaps");
  std::vector<Address> out(get_gc_heap_count());
  for (u64 i = 0; i < out.size(); ++i)
    out[i] = memory_->pointer(table + i * memory_->format().pointer_size, "an entry of the table of GC heaps");
  return out;
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

// Workstation: each member is a global of its own. Server: members of the gc_heap, the tables inline in it.
GCHeapData Gc1::get_heap_data(Address heap) const {
  GCHeapData out;
  out.address = heap;
  Address table;
  if (heap == 0) {
    out.alloc_allocated = global_pointer("GCHeapAllocAllocated", "alloc_allocated");
    out.ephemeral_heap_segment = global_pointer("GCHeapEphemeralHeapSegment", "ephemeral_heap_segment");
    table = descriptor_->number("GCHeapGenerationTable");
  } else {
    auto member = [&](const char *field) {
      return memory_->pointer(heap + static_cast<u64>(descriptor_->offset("GCHeap", field)), field);
    };
    out.alloc_allocated = member("AllocAllocated");
    out.ephemeral_heap_segment = member("EphemeralHeapSegment");
    table = heap + static_cast<u64>(descriptor_->offset("GCHeap", "GenerationTable"));
  }
  u64 count = descriptor_->number("TotalGenerationCount");
  if (count < 4 || count > 16)
    throw Error("TotalGenerationCount is " + std::to_string(count));
  u64 size = descriptor_->size_of("Generation");
  for (u64 i = 0; i < count; ++i)
    out.generation_table.push_back(read_generation(table + i * size));
  return out;
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
  return out;
}

std::vector<GCHeapSegmentData> Gc1::segment_list(Address first, const char *list,
                                                 std::vector<std::string> &problems) const {
  std::vector<GCHeapSegmentData> out;
  std::unordered_set<Address> seen;
  const u64 most = max_segments_per_generation / get_gc_heap_count();
  for (Address at = first; at;) {
    if (!seen.insert(at).second) {
      problems.push_back(std::string("the segment list of ") + list + " runs in a circle at " + hex(at));
      break;
    }
    if (out.size() >= most) {
      problems.push_back(std::string("the segment list of ") + list + " is longer than " + std::to_string(most));
      break;
    }
    try {
      out.push_back(get_heap_segment_data(at));
    } catch (const Error &e) {
      problems.push_back(std::string("the segment list of ") + list + " breaks off: " + e.what());
      break;
    }
    at = out.back().next;
  }
  return out;
}

// Segments without regions: gen2, gen1 and gen0 share the ephemeral segment, oldest at the lowest address; where one
// ends the allocation start of the next one says.
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

std::vector<GCHeapSegmentInfo> Gc1::enumerate_heap_segments(const GCHeapData &heap,
                                                            std::vector<std::string> &problems) const {
  std::vector<GCHeapSegmentInfo> out;
  auto add_list = [&](u64 generation, GCSegmentGeneration as) {
    if (generation >= heap.generation_table.size())
      return;
    for (const GCHeapSegmentData &s :
         segment_list(heap.generation_table[generation].start_segment, name_of(as), problems)) {
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

AllocationContext Gc1::get_global_allocation_context() const {
  std::optional<u64> global = descriptor_->try_number("GlobalAllocContext");
  if (!global)
    return {};
  Address context =
      *global + static_cast<u64>(descriptor_->try_offset("EEAllocContext", "GCAllocationContext").value_or(0));
  return {memory_->pointer(context + static_cast<u64>(descriptor_->offset("GCAllocContext", "Pointer")),
                           "GlobalAllocContext"),
          memory_->pointer(context + static_cast<u64>(descriptor_->offset("GCAllocContext", "Limit")),
                           "GlobalAllocContext")};
}

} // namespace dnheap
