// The GC contract, whether published (.NET 11) or derived (8 to 10).
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// Throws what reading threw, with its text.
std::string error_of(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

void add_segments(HeapBuilder &heap) {
  for (u32 h = 0; h < heap.shape.heaps; ++h) {
    if (heap.shape.regions)
      heap.segment(G::gen0, h).object(heap.object_type);
    else
      heap.ephemeral(h).object(heap.object_type);
    heap.segment(G::frozen, h).object(heap.object_type);
  }
}

TEST(Gc1, SaysWhatItIs) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    add_segments(heap);
    Opened opened(heap);
    const Gc &gc = opened.runtime.gc();
    std::vector<std::string> ids = gc.get_gc_identifiers();
    std::vector<std::string> expected = {shape.server ? "server" : "workstation",
                                         shape.regions ? "regions" : "segments", "background"};
    if (shape.server && shape.net >= Net::net10)
      expected.push_back("dynamic_heap");
    EXPECT_EQ(ids, expected);
    EXPECT_EQ(gc.is_server(), shape.server);
    EXPECT_EQ(gc.has_regions(), shape.regions);
    EXPECT_EQ(gc.get_gc_heap_count(), shape.heaps);
    EXPECT_EQ(gc.get_gc_heaps().size(), shape.heaps);
    EXPECT_EQ(gc.get_max_generation(), 2u);
    EXPECT_TRUE(gc.get_gc_structures_valid());
    constexpr const char *versions[] = {"8.0.33", "9.0.22", "10.0.14", "11.0.1"};
    EXPECT_EQ(opened.runtime.version(), versions[static_cast<u8>(shape.net)]);
  }
}

TEST(Gc1, StructuresInvalidDuringCollection) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net11}) {
      HeapBuilder heap({.format = format, .net = net});
      add_segments(heap);
      heap.structures_invalid = 1;
      EXPECT_FALSE(Opened(heap).runtime.gc().get_gc_structures_valid());
    }
}

TEST(Gc1, Bounds) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    add_segments(heap);
    Opened opened(heap);
    std::pair<Address, Address> expected = {heap.segments.front().block.address(),
                                            heap.segments.back().block.address() + (64 << 20)};
    EXPECT_EQ(opened.runtime.gc().get_gc_bounds(), expected);
    // 9.0 does not say: found, but not if the card table says otherwise.
    HeapBuilder old({.format = format, .net = Net::net9});
    add_segments(old);
    EXPECT_EQ(Opened(old).runtime.gc().get_gc_bounds(), expected);
    old.poke(old.variables.at("highest"), 0x5000, old.p);
    Opened contradicted(old);
    EXPECT_EQ(contradicted.runtime.gc().get_gc_bounds(), std::nullopt);
    EXPECT_TRUE(contradicted.runtime.descriptor().missing.contains("GCLowestAddress"));
    // Heap dumps of Windows lack g_dacTable. The card table's header says the same, if it is the one in use.
    HeapBuilder bare({.format = format, .net = Net::net9});
    add_segments(bare);
    (void)bare.target();
    const Address table = bare.variables.at("g_dacTable");
    bare.hole(table, table + 42 * bare.p);
    bare.poke(bare.variables.at("addresses") + bare.p, 0, bare.p); // which those have not either
    EXPECT_EQ(Opened(bare).runtime.gc().get_gc_bounds(), expected);
    bare.poke(bare.variables.at("CardTable"), 0x5000, bare.p);
    EXPECT_EQ(Opened(bare).runtime.gc().get_gc_bounds(), std::nullopt);
  }
}

TEST(Gc1, HeapData) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    add_segments(heap);
    for (u32 h = 0; h < shape.heaps; ++h)
      heap.generation_context(h, 3) = {0x100 + h, 0x200 + h};
    std::unique_ptr<Target> target = heap.target();
    CoreClr runtime = open_core_clr(*target, target->modules[0], tables_for_all_formats());
    const Gc &gc = runtime.gc();
    std::vector<Address> heaps = gc.get_gc_heaps();
    for (u32 h = 0; h < shape.heaps; ++h) {
      const SegmentWriter &young = heap.segments[2 * h], &frozen = heap.segments[2 * h + 1];
      GCHeapData data = gc.get_heap_data(heaps[h]);
      EXPECT_EQ(data.alloc_allocated, young.end());
      EXPECT_EQ(data.ephemeral_heap_segment, young.structure);
      ASSERT_EQ(data.generation_table.size(), 5u);
      EXPECT_EQ(data.generation_table[0].start_segment, young.structure);
      EXPECT_EQ(data.generation_table[2].start_segment, frozen.structure);
      EXPECT_EQ(data.generation_table[3].start_segment, 0u);
      EXPECT_EQ(data.generation_table[3].allocation_context_pointer, 0x100u + h);
      EXPECT_EQ(data.generation_table[3].allocation_context_limit, 0x200u + h);
      if (shape.regions)
        EXPECT_EQ(data.generation_table[0].allocation_start, std::nullopt);
      else
        EXPECT_EQ(data.generation_table[0].allocation_start, young.gen0);
      GCHeapSegmentData segment = gc.get_heap_segment_data(frozen.structure);
      EXPECT_EQ(segment.mem, frozen.start);
      EXPECT_EQ(segment.allocated, frozen.end());
      EXPECT_EQ(segment.used, frozen.end());
      EXPECT_EQ(segment.committed, align_up(frozen.end(), 4096));
      EXPECT_EQ(segment.reserved, frozen.block.address() + (64 << 20));
      EXPECT_EQ(segment.flags, heap_segment_flags_readonly);
      EXPECT_EQ(segment.next, shape.regions ? 0 : young.structure);
      EXPECT_EQ(segment.background_allocated, frozen.start + heap.p);
      EXPECT_EQ(segment.heap, shape.server ? std::optional(heaps[h]) : std::nullopt);
    }
  }
}

TEST(Gc1, CircularSegmentList) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    SegmentWriter &a = heap.segment(G::gen2), &b = heap.segment(G::gen2), &c = heap.segment(G::gen2);
    for (SegmentWriter *s : {&a, &b, &c})
      s->object(heap.object_type);
    heap.target();
    heap.poke(c.structure + 6 * heap.p, b.structure, heap.p);
    Opened opened(heap);
    Notes problems;
    const Gc &gc = opened.runtime.gc();
    EXPECT_EQ(gc.enumerate_heap_segments(gc.get_heap_data(0), problems).size(), 3u);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].text.find("the segment list of gen2 runs in a circle at 0x"), std::string::npos)
        << problems[0].text;
  }
}

TEST(Gc1, NonsenseIsAnError) {
  HeapShape shape{.server = true, .heaps = 2};
  for (u64 count : {0u, 5000u, 0xffffffffu}) {
    HeapBuilder heap(shape);
    add_segments(heap);
    heap.target();
    heap.poke(heap.variables.at("n_heaps"), count, 4);
    EXPECT_NE(error_of([&] { Opened opened(heap); }).find("number of GC heaps"), std::string::npos) << count;
  }
  HeapBuilder no_table(shape);
  add_segments(no_table);
  no_table.poke(no_table.variables.at("g_heaps"), 0x1234560, 8);
  EXPECT_NE(Opened(no_table).runtime.why_no_heap().find("table of GC heaps at 0x1234560"), std::string::npos);
  HeapBuilder divided({.regions = false});
  SegmentWriter &young = divided.ephemeral();
  young.object(divided.object_type);
  young.gen0 = young.start - 8;
  young.gen1 = young.start;
  EXPECT_NE(error_of([&] { Opened opened(divided); }).find("is not divided into generations"), std::string::npos);
}

TEST(Gc1, MissingValuesAreNamed) {
  ContractDescriptor empty;
  Memory memory;
  Gc1 gc(memory, empty);
  EXPECT_NE(error_of([&] { gc.get_gc_identifiers(); }).find("GCIdentifiers"), std::string::npos);
  EXPECT_NE(error_of([&] { gc.get_max_generation(); }).find("MaxGeneration"), std::string::npos);
  EXPECT_NE(error_of([&] { gc.get_heap_segment_data(0x1000); }).find("HeapSegment.Allocated"), std::string::npos);
  EXPECT_EQ(gc.get_gc_bounds(), std::nullopt);
  EXPECT_EQ(gc.get_global_allocation_context(), std::nullopt);
  EXPECT_EQ(gc.get_current_gc_state(), std::nullopt);
  EXPECT_EQ(gc.try_get_gc_dynamic_adaptation_mode(), std::nullopt);
  EXPECT_EQ(gc.get_global_mechanisms(), std::nullopt);
}

TEST(Gc1, Alignment) {
  constexpr Format wide{8, ByteOrder::little}, narrow{4, ByteOrder::little};
  EXPECT_EQ(Gc1::align_object_size(25, wide, false), 32u);
  EXPECT_EQ(Gc1::align_object_size(25, narrow, false), 28u);
  EXPECT_EQ(Gc1::align_object_size(25, narrow, true), 32u);
}

} // namespace
} // namespace dnheap::test
