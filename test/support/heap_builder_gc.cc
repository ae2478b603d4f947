// HeapBuilder, third part: what the GC says of itself, see gc_state.h.
#include "support/descriptor_writer.h"
#include "support/heap_builder.h"

#include <algorithm>

namespace dnheap::test {

namespace {

constexpr u64 segment_bytes = 0x10000, values_at = 0x1000, handles_per_block = 64, card_table_header = 64;
constexpr u64 free_list_words = 7, free_list_head = 5;

// Where a datum of a heap lies in the gc_heap (server), or in one block of variables (workstation), in words; its
// pointer in GcDacVars, and its offset in gc_heap_field_offsets, by index.
struct Member {
  const char *name;
  u64 word;
  i64 dac_variable; // -1: none
  u64 heap_field;
  char build; // 's': only without regions, 'r': only with
};
constexpr u64 first_word = 280;
constexpr Member members[] = {{"FinalizeQueue", 280, 15, 2, 0},
                              {"OomData", 281, 14, 3, 0},
                              {"InterestingData", 290, 22, 4, 0},
                              {"CompactReasons", 299, 23, 5, 0},
                              {"ExpandMechanisms", 310, 24, 6, 0},
                              {"InterestingMechanismBits", 316, 25, 7, 0},
                              {"InternalRootArray", 318, 16, 8, 0},
                              {"InternalRootArrayIndex", 319, 17, 9, 0},
                              {"HeapAnalyzeSuccess", 320, 18, 10, 0},
                              {"CardTable", 321, -1, 11, 0},
                              {"MarkArray", 322, 5, 12, 0},
                              {"NextSweepObj", 323, 13, 13, 0},
                              {"BackgroundMinSavedAddr", 324, 10, 14, 0},
                              {"BackgroundMaxSavedAddr", 325, 11, 15, 0},
                              {"FreeableSohSegment", 326, 33, 19, 0},
                              {"FreeableUohSegment", 327, 34, 20, 0},
                              {"FreeRegions", 328, 32, 21, 'r'},
                              {"SavedSweepEphemeralSeg", 349, 8, 16, 's'},
                              {"SavedSweepEphemeralStart", 350, 9, 17, 's'}};

bool has(const Member &m, const HeapShape &shape) { return m.build == 0 || (m.build == 'r') == shape.regions; }

// Of the handle tables.
struct TableLayout {
  u64 kinds, blocks, allocation, block_type, user_data, tail, next;
  explicit TableLayout(const HeapShape &shape)
      : kinds(shape.net <= Net::net9 ? 12 : 13), blocks((segment_bytes - values_at) / (64 * shape.format.pointer_size)),
        allocation(4 * blocks), block_type(13 * blocks), user_data(14 * blocks), tail(16 * blocks),
        next(tail + 6 * kinds) {}
};

u64 fill_pointers_word(Net net) { return net == Net::net11 ? 2 : net == Net::net9 ? 1 : 0; }

} // namespace

void HeapBuilder::add_gc_variables() {
  variable("gc_members", 351 - first_word);
  variable("global_mechanisms", 6);
  variable("bookkeeping");
  variable("to_decommit", 3 * free_list_words);
  variable("huge", free_list_words);
  variable("processors");
  variable("handle_map", 3);
}

// A list of regions that belong to nobody; returns its head.
Address HeapBuilder::write_free_regions(const std::vector<FreeRegionWriter> &regions, Address *last) {
  Address head = 0, previous = 0;
  for (const FreeRegionWriter &region : regions) {
    Address at = native.reserve(10 * p);
    native.pointer(at + 1 * p, region.committed);
    native.pointer(at + 4 * p, region.mem);
    if (previous)
      native.pointer(previous + 6 * p, at);
    else
      head = at;
    previous = at;
  }
  if (last)
    *last = previous;
  return head;
}

void HeapBuilder::write_free_list(Block &to, Address at, const std::vector<FreeRegionWriter> &regions) {
  Address last = 0;
  to.pointer(at, regions.size());
  to.pointer(at + free_list_head * p, write_free_regions(regions, &last));
  to.pointer(at + (free_list_head + 1) * p, last);
}

void HeapBuilder::write_gc_state() {
  for (u32 heap = 0; heap < shape.heaps; ++heap) {
    Block &to = shape.server ? native : data;
    auto at = [&](u64 word) {
      return shape.server ? heap_addresses_[heap] + word * p : variables.at("gc_members") + (word - first_word) * p;
    };
    auto words = [&](u64 word, const std::vector<u64> &values) {
      for (u64 i = 0; i < values.size(); ++i)
        to.pointer(at(word + i), values[i]);
    };
    const GcHeapState &s = gc.heaps[heap];
    u64 total = 0;
    for (u64 count : s.finalize_counts)
      total += count;
    const u64 skip = fill_pointers_word(shape.net);
    Address array = native.reserve((total + 8) * p), queue = native.reserve((skip + 9) * p), end = array;
    for (u64 i = 0; i < 7; ++i)
      native.pointer(queue + (skip + i) * p, end += s.finalize_counts[i] * p);
    for (u64 i = 0; i < s.finalize_due.size(); ++i)
      native.pointer(end - (s.finalize_due.size() - i) * p, s.finalize_due[i]);
    native.pointer(queue + (skip + 7) * p, array);
    native.pointer(queue + (skip + 8) * p, array + (total + 8) * p);
    words(280, {queue});
    const GCOomData &oom = s.oom;
    words(282, {oom.alloc_size, oom.reserved, oom.allocated, oom.gc_index});
    words(287, {oom.size, oom.available_pagefile_mb});
    to.word(at(281), static_cast<u32>(oom.reason));
    to.word(at(286), static_cast<u32>(oom.fgm));
    to.word(at(289), oom.loh_p);
    words(290, s.interesting);
    words(299, s.compact);
    words(310, s.expand);
    words(316, s.bits);
    words(318, {s.internal_roots, s.internal_root_index});
    to.word(at(320), s.analyze_success);
    words(321, {s.card_table, s.mark_array, s.next_sweep, s.saved_min, s.saved_max, write_free_regions(s.freeable_soh),
                write_free_regions(s.freeable_uoh)});
    if (shape.regions)
      for (u64 i = 0; i < 3; ++i)
        write_free_list(to, at(328 + i * free_list_words), s.free_regions[i]);
    words(349, {s.saved_sweep_segment, s.saved_sweep_start});
  }
  for (u64 i = 0; i < gc.global_mechanisms.size(); ++i)
    data.pointer(variables.at("global_mechanisms") + i * p, gc.global_mechanisms[i]);
  for (u64 i = 0; i < 3; ++i)
    write_free_list(data, variables.at("to_decommit") + i * free_list_words * p, gc.to_decommit[i]);
  write_free_list(data, variables.at("huge"), gc.huge);
  data.word(variables.at("c_gc_state"), gc.background_state);
  data.word(variables.at("dynamic_mode"), gc.adaptation_mode);
  data.word(variables.at("processors"), gc.processors);
  write_card_tables();
  write_handle_tables();
}

// {u32 uses, size, next, lowest, highest}; next: the end of another one's header.
void HeapBuilder::write_card_tables() {
  Address next = 0;
  for (u64 i = gc.card_table_bytes.size(); i-- > 0;) {
    Address at = native.reserve(card_table_header);
    native.word(at, 1);
    native.pointer(at + p, gc.card_table_bytes[i]);
    native.pointer(at + 2 * p, next);
    if (!segments.empty()) {
      native.pointer(at + 3 * p, segments.front().block.address());
      native.pointer(at + 4 * p, segments.back().block.address() + (64 << 20));
    }
    next = at + card_table_header;
  }
  const Address newest = next ? next - card_table_header : 0;
  set("bookkeeping", newest);
  if (newest && !segments.empty()) // its cards follow; 8 KiB of the heap (4 with 32 bits) take 32 of them
    set("CardTable", newest + card_table_header - segments.front().block.address() / (p == 8 ? 0x2000 : 0x1000) * 4);
}

// One map with two buckets, of which the second is null; one table per processor under server GC.
void HeapBuilder::write_handle_tables() {
  const TableLayout handle_layout(shape);
  const u32 tables = shape.server ? gc.processors : 1;
  std::vector<u64> array;
  Address place = handles_address();
  for (u32 table = 0; table < tables; ++table) {
    Address at = native.reserve(align_up(4 * handle_layout.kinds, p) + 2 * p);
    array.push_back(at);
    u32 segment_count = 1;
    for (const HandleWriter &handle : gc.handles)
      if (handle.table == table)
        segment_count = std::max(segment_count, handle.segment + 1);
    for (u32 i = 0; i < segment_count; ++i, place += segment_bytes)
      write_handle_segment(handle_segments.emplace_back(shape.format, place), table, i, at,
                           i + 1 < segment_count ? place + segment_bytes : 0);
    native.pointer(at + align_up(4 * handle_layout.kinds, p),
                   handle_segments[handle_segments.size() - segment_count].address());
  }
  array.push_back(native.address() + 1); // what follows an array is something else
  Address bucket = native.words({native.words(array), 0});
  std::vector<u64> buckets(10);
  buckets[0] = bucket;
  data.pointer(variables.at("handle_map"), native.words(buckets));
  data.word(variables.at("handle_map") + 2 * p, buckets.size());
}

void HeapBuilder::write_handle_segment(Block &to, u32 table, u32 segment, Address table_address, Address next) {
  const TableLayout handle_layout(shape);
  const Address base = to.address();
  to.reserve(segment_bytes, 1);
  auto fill = [&](u64 at, u64 count, u64 value) {
    for (u64 i = 0; i < count; ++i)
      to.put(base + at + i, value, 1);
  };
  for (u64 at : {handle_layout.allocation, handle_layout.block_type, handle_layout.user_data})
    fill(at, handle_layout.blocks, 0xff);
  fill(handle_layout.tail, handle_layout.kinds, 0xff);
  to.pointer(base + handle_layout.next, next);
  to.pointer(base + handle_layout.next + p, table_address);
  u64 block = 3; // blocks are handed out in no order
  auto new_block = [&](u64 kind) {
    u64 out = block;
    block = (block + 7) % handle_layout.blocks;
    to.put(base + handle_layout.block_type + out, kind, 1);
    return out;
  };
  for (u64 kind = 0; kind + 1 < handle_layout.kinds; ++kind) {
    u64 first = 0, last = 0, count = 0, second = 0;
    for (HandleWriter &handle : gc.handles) {
      if (handle.table != table || handle.segment != segment || static_cast<u64>(handle.type) != kind)
        continue;
      u64 slot = count++ % handles_per_block;
      if (slot == 0) {
        u64 next_block = new_block(kind);
        if (count > 1)
          to.put(base + handle_layout.allocation + last, next_block, 1);
        else
          first = next_block;
        last = next_block;
        if (handle.secondary) {
          second = new_block(handle_layout.kinds - 1);
          to.put(base + handle_layout.user_data + last, second, 1);
        }
      }
      handle.address = base + values_at + (last * handles_per_block + slot) * p;
      to.pointer(handle.address, handle.object);
      if (handle.secondary)
        to.pointer(base + values_at + (second * handles_per_block + slot) * p, *handle.secondary);
    }
    if (count) {
      to.put(base + handle_layout.allocation + last, first, 1);
      to.put(base + handle_layout.tail + kind, last, 1);
    }
  }
}

void HeapBuilder::add_gc_pointers(std::map<u64, Address> &pointers, std::map<u64, u64> &heap_fields) const {
  pointers[2] = variables.at("global_mechanisms");
  pointers[26] = variables.at("handle_map");
  pointers[29] = variables.at("bookkeeping");
  if (shape.regions) {
    pointers[30] = variables.at("to_decommit");
    pointers[31] = variables.at("huge");
  }
  for (const Member &m : members)
    if (has(m, shape)) {
      heap_fields[m.heap_field] = m.word;
      if (!shape.server && m.dac_variable >= 0)
        pointers[static_cast<u64>(m.dac_variable)] = variables.at("gc_members") + (m.word - first_word) * p;
    }
}

// Everything that .NET 11 publishes of it.
void HeapBuilder::add_gc_description(DescriptorWriter &to) const {
  const TableLayout handle_layout(shape);
  auto bytes = [&](u64 words) { return static_cast<i64>(words * p); };
  for (const Member &m : members) {
    if (!has(m, shape))
      continue;
    if (shape.server)
      to.types["GCHeap"][m.name] = bytes(m.word);
    else
      to.pointers[std::string("GCHeap") + m.name] = variables.at("gc_members") + (m.word - first_word) * p;
  }
  to.types["HeapSegment"]["BackgroundAllocated"] = bytes(7);
  if (shape.server)
    to.types["HeapSegment"]["Heap"] = bytes(8);
  constexpr const char *history[] = {"Reason", "AllocSize",           "Reserved", "Allocated", "GcIndex", "Fgm",
                                     "Size",   "AvailablePagefileMb", "LohP"};
  for (u64 i = 0; i < std::size(history); ++i)
    to.types["OomHistory"][history[i]] = bytes(i);
  to.types["CFinalize"]["FillPointers"] = bytes(fill_pointers_word(shape.net));
  to.types["CardTableInfo"] = {{"Recount", 0}, {"Size", bytes(1)}, {"NextCardTable", bytes(2)}};
  to.types["HandleTableMap"] = {{"BucketsPtr", 0}, {"Next", bytes(1)}};
  to.types["HandleTableBucket"]["Table"] = 0;
  to.types["HandleTable"]["SegmentList"] = static_cast<i64>(align_up(4 * handle_layout.kinds, p));
  to.types["TableSegment"] = {{"RgAllocation", handle_layout.allocation},
                              {"RgUserData", handle_layout.user_data},
                              {"RgTail", handle_layout.tail},
                              {"NextSegment", handle_layout.next},
                              {"RgValue", values_at}};
  for (auto [name, number] :
       std::initializer_list<std::pair<const char *, u64>>{{"CFinalizeFillPointersLength", 7},
                                                           {"InterestingDataLength", 9},
                                                           {"CompactReasonsLength", 11},
                                                           {"ExpandMechanismsLength", 6},
                                                           {"InterestingMechanismBitsLength", 2},
                                                           {"GlobalMechanismsLength", 6},
                                                           {"InitialHandleTableArraySize", 10},
                                                           {"HandleSegmentSize", segment_bytes},
                                                           {"HandleBlocksPerSegment", handle_layout.blocks},
                                                           {"HandleMaxInternalTypes", handle_layout.kinds},
                                                           {"HandlesPerBlock", handles_per_block},
                                                           {"BlockInvalid", 0xff},
                                                           {"DebugDestroyedHandleValue", 0},
                                                           {"CardTableInfoSize", card_table_header}})
    to.numbers[name] = number;
  for (const auto &[name, value] : gc.features)
    to.numbers[name] = value;
  for (const auto &[name, fields] : gc.types)
    to.types[name] = fields;
  for (const auto &[name, address] : gc.pointers)
    to.pointers[name] = address;
  to.pointers["GCGlobalMechanisms"] = variables.at("global_mechanisms");
  to.pointers["HandleTableMap"] = variables.at("handle_map");
  to.pointers["BookkeepingStart"] = variables.at("bookkeeping");
  to.pointers["CurrentGCState"] = variables.at("c_gc_state");
  if (shape.server) {
    to.pointers["DynamicAdaptationMode"] = variables.at("dynamic_mode");
    to.pointers["TotalCpuCount"] = variables.at("processors");
  }
  if (shape.regions) {
    to.types["RegionFreeList"]["HeadFreeRegion"] = bytes(free_list_head);
    to.sizes["RegionFreeList"] = free_list_words * p;
    to.numbers["CountFreeRegionKinds"] = 3;
    to.pointers["GlobalRegionsToDecommit"] = variables.at("to_decommit");
    to.pointers["GlobalFreeHugeRegions"] = variables.at("huge");
  }
}

} // namespace dnheap::test
