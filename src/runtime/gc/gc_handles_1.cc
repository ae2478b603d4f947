// GC contract: handle tables.
//
//   HandleTableMap → buckets → HandleTable[one per processor] → TableSegment → blocks of slots
//
// A segment's blocks are linked in a circle per kind; RgTail has the last block of each, RgAllocation the links.
#include "base/text.h"
#include "runtime/gc/built_in_com_1.h"
#include "runtime/gc/gc_1.h"
#include "runtime/list_walk.h"

#include <algorithm>
#include <bitset>

namespace dnheap {

namespace {

constexpr u64 max_maps = 8192, max_segments = 1 << 20; // limits for all tables together
constexpr u32 max_buckets = 4096, max_tables = 4096;   // per map and per bucket
constexpr u64 max_problems = 100;

void add_problem(Notes &notes, const std::string &text, const Error *error = nullptr) {
  if (notes.size() >= max_problems)
    return;
  if (error)
    notes.add(Subject::handles, Effect::liveness, text, *error);
  else
    notes.add(Subject::handles, Effect::liveness, text);
}

} // namespace

// The specification's list lacks the kinds that no runtime with a published contract makes any more. Tables of .NET 8
// and of standalone GCs have them, so they belong here. The last kind is internal: its blocks hold second words.
std::vector<HandleType> Gc1::get_supported_handle_types() const {
  std::optional<u64> kinds = descriptor_->try_number("HandleMaxInternalTypes");
  auto off = [&](const char *feature) { return descriptor_->try_number(feature) == 0; };
  std::vector<HandleType> out;
  for (u32 i = 0; i < handle_type_count && (!kinds || i + 1 < *kinds); ++i) {
    HandleType type = static_cast<HandleType>(i);
    if (type == HandleType::ref_counted && off("FeatureCOMInterop") && off("FeatureComWrappers") &&
        off("FeatureObjCMarshal"))
      continue;
    if (type == HandleType::cross_reference && off("FeatureJavaMarshal"))
      continue;
    out.push_back(type);
  }
  return out;
}

// One table per processor, not per heap: a server GC with fewer heaps (DOTNET_GCHeapCount, or one that adapts) still
// spreads handles over all of them. The specification has the two cases reversed.
u32 Gc1::handle_table_count() const {
  if (!is_server())
    return 1;
  descriptor_->number("TotalCpuCount"); // throws, with the reason why it is missing
  const Global &global = *descriptor_->find_global("TotalCpuCount");
  u64 count = global.indirect ? memory_->u32_at(*global.number, "the number of processors") : *global.number;
  if (count == 0 || count > max_tables)
    throw Error("TotalCpuCount is " + std::to_string(count));
  return static_cast<u32>(count);
}

u32 Gc1::handle_number(const char *global, u32 most) const {
  u64 number = descriptor_->number(global);
  if (number == 0 || number > most)
    throw Error(std::string(global) + " is " + std::to_string(number));
  return static_cast<u32>(number);
}

void Gc1::visit_handle_segments(const std::function<void(Address segment, u32 table)> &visit, Notes &notes) const {
  const u32 p = memory_->format().pointer_size;
  const u32 buckets = handle_number("InitialHandleTableArraySize", max_buckets), tables = handle_table_count();
  // Segments are aligned to their size. The specification does not list that size, so it may be absent.
  const u32 alignment = descriptor_->try_number("HandleSegmentSize") ? handle_number("HandleSegmentSize", 1 << 24) : p;
  auto at = [&](const char *type, const char *field) { return static_cast<u64>(descriptor_->offset(type, field)); };
  const u64 buckets_ptr = at("HandleTableMap", "BucketsPtr"), next_map = at("HandleTableMap", "Next");
  const u64 table_array = at("HandleTableBucket", "Table"), segment_list = at("HandleTable", "SegmentList");
  const u64 next_segment = at("TableSegment", "NextSegment");
  ListWalk maps(max_maps), segments(max_segments);
  auto visit_list = [&](Address first, u32 table) {
    for (Address segment = first; segment;) {
      const std::string why = segment % alignment ? "has no segment at " + hex(segment) : segments.why_not(segment);
      if (!why.empty()) {
        add_problem(notes, "the segment list of handle table " + std::to_string(table) + " " + why);
        return;
      }
      visit(segment, table);
      segment = memory_->pointer(segment + next_segment, "TableSegment.NextSegment");
    }
  };
  auto guarded = [&](const auto &step) {
    try {
      step();
      return true;
    } catch (const Error &e) {
      add_problem(notes, "handles are missing: ", &e);
      return false;
    }
  };
  auto visit_bucket = [&](Address bucket) {
    Address array = memory_->pointer(bucket + table_array, "HandleTableBucket.Table");
    for (u32 j = 0; array && j < tables; ++j)
      guarded([&] {
        if (Address table = memory_->pointer(array + j * p, "an entry of the array of handle tables"))
          visit_list(memory_->pointer(table + segment_list, "HandleTable.SegmentList"), j);
      });
  };
  for (Address map = descriptor_->number("HandleTableMap"); map;) {
    if (const std::string why = maps.why_not(map); !why.empty()) {
      add_problem(notes, "the list of handle table maps " + why);
      return;
    }
    Address array = 0, next = 0;
    if (!guarded([&] {
          array = memory_->pointer(map + buckets_ptr, "HandleTableMap.BucketsPtr");
          next = memory_->pointer(map + next_map, "HandleTableMap.Next");
        }))
      return;
    for (u32 i = 0; array && i < buckets; ++i)
      guarded([&] {
        if (Address bucket = memory_->pointer(array + i * p, "an entry of the array of handle buckets"))
          visit_bucket(bucket);
      });
    map = next;
  }
}

std::vector<HandleData> Gc1::get_handles(std::span<const HandleType> types, Notes &notes) const {
  const u64 p = memory_->format().pointer_size;
  const u32 kinds = handle_number("HandleMaxInternalTypes", 64);
  const u32 blocks = handle_number("HandleBlocksPerSegment", 255), per_block = handle_number("HandlesPerBlock", 4096);
  const u32 invalid = static_cast<u8>(descriptor_->try_number("BlockInvalid").value_or(0xff));
  // The value is a number, though the specification reads a pointer; 0 in release builds.
  const u64 destroyed = descriptor_->try_number("DebugDestroyedHandleValue").value_or(0);
  auto at = [&](const char *field) { return static_cast<u64>(descriptor_->offset("TableSegment", field)); };
  const u64 rg_tail = at("RgTail"), rg_allocation = at("RgAllocation"), rg_value = at("RgValue");
  const u64 rg_user_data = at("RgUserData");
  const BuiltInCom1 com(*memory_, *descriptor_);
  std::vector<HandleData> out;

  auto byte = [&](Address segment, u64 offset) {
    std::optional<u8> value = memory_->try_load<u8>(segment + offset);
    if (!value)
      throw Error("handles are missing: the handle segment at " + hex(segment) + " is not, or not whole, in this dump");
    return u32{*value};
  };
  auto add_block = [&](Address segment, u32 table, HandleType type, u32 block) {
    u32 second = has_secondary(type) ? byte(segment, rg_user_data + block) : invalid;
    for (u32 k = 0; k < per_block; ++k) {
      HandleData handle{.handle = segment + rg_value + (u64{block} * per_block + k) * p};
      handle.object = memory_->pointer(handle.handle, "a handle");
      if (handle.object == 0 || handle.object == destroyed)
        continue;
      handle.type = type;
      handle.strong_reference = is_strong(type);
      handle.table = table;
      if (type == HandleType::ref_counted)
        if (std::optional<ComWrapper> wrapper = com.find_wrapper(handle.object)) {
          handle.ref_count = wrapper->ref_count;
          handle.strong_reference = wrapper->ref_count > 0 && !wrapper->is_handle_weak;
        }
      if (second < blocks)
        handle.secondary = memory_->try_pointer(segment + rg_value + (u64{second} * per_block + k) * p);
      out.push_back(handle);
    }
  };
  auto add_segment = [&](Address segment, u32 table) {
    std::bitset<256> seen; // a block has one kind
    for (HandleType type : types) {
      if (static_cast<u32>(type) + 1 >= kinds)
        continue; // these tables lack the kind; their last kind is that of second words
      u32 tail = byte(segment, rg_tail + static_cast<u32>(type));
      if (tail == invalid)
        continue;
      u32 block = tail;
      do {
        block = byte(segment, rg_allocation + block);
        if (block >= blocks || seen[block]) {
          add_problem(notes, std::string("the blocks of ") + name_of(type) + " handles in the segment at " +
                                 hex(segment) + " are linked wrongly");
          break;
        }
        seen.set(block);
        add_block(segment, table, type, block);
      } while (block != tail);
    }
  };
  visit_handle_segments(
      [&](Address segment, u32 table) {
        try {
          add_segment(segment, table);
        } catch (const Error &e) {
          add_problem(notes, "", &e);
        }
      },
      notes);
  return out;
}

// Returns the segment that has the handle among its values (`bytes` bytes from the offset `values` on); 0: none. Finds
// it by the alignment of segments or, if their size is not published, by a visit to all of them.
Address Gc1::handle_segment_of(Address handle, u64 values, u64 bytes) const {
  auto holds = [&](Address segment) { return handle >= segment + values && handle - segment - values < bytes; };
  if (descriptor_->try_number("HandleSegmentSize")) {
    const Address segment = handle - handle % handle_number("HandleSegmentSize", 1 << 24);
    return holds(segment) ? segment : 0;
  }
  Address out = 0;
  Notes ignored; // an unreadable segment cannot contain a handle that was found
  visit_handle_segments([&](Address segment, u32) { out = holds(segment) ? segment : out; }, ignored);
  return out;
}

std::optional<u64> Gc1::get_handle_extra_info(Address handle) const {
  const u64 p = memory_->format().pointer_size;
  const u64 blocks = handle_number("HandleBlocksPerSegment", 255), per_block = handle_number("HandlesPerBlock", 4096);
  const u64 values = static_cast<u64>(descriptor_->offset("TableSegment", "RgValue"));
  const Address segment = handle_segment_of(handle, values, blocks * per_block * p);
  if (!segment || handle % p)
    throw Error("no handle can lie at " + hex(handle));
  const u64 index = (handle - segment - values) / p;
  std::optional<u8> second = memory_->try_load<u8>(
      segment + static_cast<u64>(descriptor_->offset("TableSegment", "RgUserData")) + index / per_block);
  if (!second)
    throw Error("cannot read the handle segment at " + hex(segment) + ": not in this dump");
  if (*second >= blocks)
    return std::nullopt;
  return memory_->try_pointer(segment + values + (*second * per_block + index % per_block) * p);
}

std::vector<GCMemoryRegionData> Gc1::get_handle_table_memory_regions(Notes &notes) const {
  const u32 size = handle_number("HandleSegmentSize", 1 << 24);
  std::vector<GCMemoryRegionData> out;
  visit_handle_segments(
      [&](Address segment, u32 table) { out.push_back({.start = segment, .size = size, .heap = table}); }, notes);
  return out;
}

} // namespace dnheap
