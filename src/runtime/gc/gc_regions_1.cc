// GC contract: memory of the GC that holds no objects.
#include "base/text.h"
#include "runtime/gc/gc_1.h"
#include "runtime/list_walk.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 max_card_tables = 32, max_free_regions = 65536; // of one list

} // namespace

const char *name_of(FreeRegionKind kind) {
  static constexpr const char *names[] = {"unknown", "global_huge_region", "global_region",
                                          "region",  "soh_segment",        "uoh_segment"};
  return names[static_cast<u8>(kind)];
}

const char *name_of(RegionSize size) {
  static constexpr const char *names[] = {"basic", "large", "huge"};
  return names[static_cast<u8>(size)];
}

// A table that grew keeps the older ones in a list as long as some thread may still read them; each points at the end
// of the next one's header. The specification reads Recount as a pointer-sized number; it is 32 bits.
std::optional<std::vector<GCMemoryRegionData>> Gc1::get_gc_bookkeeping_memory_regions(Notes &notes) const {
  std::optional<u64> start = try_global_pointer("BookkeepingStart");
  std::optional<i64> recount = descriptor_->try_offset("CardTableInfo", "Recount");
  std::optional<i64> size = descriptor_->try_offset("CardTableInfo", "Size");
  std::optional<i64> next = descriptor_->try_offset("CardTableInfo", "NextCardTable");
  std::optional<u64> info_size = descriptor_->try_number("CardTableInfoSize");
  if (!start || !recount || !size || !next || !info_size)
    return std::nullopt;
  if (*start == 0) {
    notes.add(Subject::gc, Effect::numbers,
              "the list of card tables is empty (BookkeepingStart is 0), though a running GC has one");
    return std::nullopt;
  }
  std::vector<GCMemoryRegionData> out;
  ListWalk tables(max_card_tables);
  for (Address at = *start;;) {
    std::optional<u32> count = memory_->try_load<u32>(at + static_cast<u64>(*recount));
    std::optional<u64> bytes = memory_->try_pointer(at + static_cast<u64>(*size));
    std::optional<u64> following = memory_->try_pointer(at + static_cast<u64>(*next));
    const std::string why =
        count && bytes && following ? tables.why_not(at) : "breaks off: memory at " + hex(at) + " is not in this dump";
    if (!why.empty()) {
      notes.add(Subject::gc, Effect::numbers, "the list of card tables " + why);
      return out;
    }
    if (*count && *bytes)
      out.push_back({.start = at, .size = *bytes});
    if (*following <= *info_size)
      return out;
    at = *following - *info_size;
  }
}

void Gc1::add_free_segments(Address first, const GCMemoryRegionData &like, std::vector<GCMemoryRegionData> &to,
                            Notes &notes) const {
  ListWalk regions(max_free_regions);
  for (Address at = first; at;) {
    if (const std::string why = regions.why_not(at); !why.empty()) {
      notes.add(Subject::gc, Effect::numbers,
                std::string("a list of free regions (") + name_of(like.kind) + ") " + why);
      return;
    }
    try {
      GCHeapSegmentData segment = get_heap_segment_data(at);
      GCMemoryRegionData region = like;
      region.start = segment.mem;
      region.size = segment.mem < segment.committed ? segment.committed - segment.mem : 0;
      if (segment.mem)
        to.push_back(region);
      at = segment.next;
    } catch (const Error &e) {
      notes.add(Subject::gc, Effect::numbers,
                std::string("a list of free regions (") + name_of(like.kind) + ") breaks off: ", e);
      return;
    }
  }
}

void Gc1::add_free_list(Address list, const GCMemoryRegionData &like, std::vector<GCMemoryRegionData> &to,
                        Notes &notes) const {
  std::optional<i64> head = descriptor_->try_offset("RegionFreeList", "HeadFreeRegion");
  std::optional<u64> first = head ? memory_->try_pointer(list + static_cast<u64>(*head)) : std::nullopt;
  if (first)
    add_free_segments(*first, like, to, notes);
  else
    notes.add(Subject::gc, Effect::numbers,
              std::string("a list of free regions (") + name_of(like.kind) + ") cannot be read" +
                  (head ? " at " + hex(list) : ": RegionFreeList.HeadFreeRegion is unknown"));
}

// Each list has regions of one size.
void Gc1::add_free_lists(Address first, const GCMemoryRegionData &like, std::vector<GCMemoryRegionData> &to,
                         Notes &notes) const {
  const DataType *list = descriptor_->find_type("RegionFreeList");
  u64 count = std::min<u64>(descriptor_->try_number("CountFreeRegionKinds").value_or(0), 3);
  if (!list || !list->size)
    count = std::min<u64>(count, 1);
  for (u64 i = 0; i < count; ++i) {
    GCMemoryRegionData sized = like;
    sized.region_size = static_cast<RegionSize>(i);
    add_free_list(first + i * (list && list->size ? *list->size : 0), sized, to, notes);
  }
}

std::vector<GCMemoryRegionData> Gc1::get_gc_free_regions(Notes &notes) const {
  std::vector<GCMemoryRegionData> out;
  if (std::optional<u64> huge = descriptor_->try_number("GlobalFreeHugeRegions"))
    add_free_list(*huge, {.kind = FreeRegionKind::global_huge_region, .region_size = RegionSize::huge}, out, notes);
  if (std::optional<u64> decommit = descriptor_->try_number("GlobalRegionsToDecommit"))
    add_free_lists(*decommit, {.kind = FreeRegionKind::global_region}, out, notes);
  std::vector<Address> heaps = get_gc_heaps();
  for (u32 i = 0; i < heaps.size(); ++i) {
    // The array lies inline in the gc_heap; for some months the runtime's own reader treated it as a pointer.
    if (std::optional<Address> lists = find_heap_member(heaps[i], "FreeRegions"))
      add_free_lists(*lists, {.kind = FreeRegionKind::region, .heap = i}, out, notes);
    for (auto [field, kind] : {std::pair{"FreeableSohSegment", FreeRegionKind::soh_segment},
                               std::pair{"FreeableUohSegment", FreeRegionKind::uoh_segment}})
      if (std::optional<Address> variable = find_heap_member(heaps[i], field))
        if (std::optional<u64> first = memory_->try_pointer(*variable))
          add_free_segments(*first, {.kind = kind, .heap = i}, out, notes);
  }
  return out;
}

} // namespace dnheap
