// GC contract: state, counters, finalization queues and failed allocations of each heap, published and derived.
#include "runtime/gc/gc_mechanisms_1.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

void fill(HeapBuilder &heap) {
  for (u32 h = 0; h < heap.shape.heaps; ++h) {
    if (heap.shape.regions)
      heap.segment(G::gen0, h).object(heap.object_type);
    else
      heap.ephemeral(h).object(heap.object_type);
    GcHeapState &s = heap.gc.heaps[h];
    s.mark_array = 0x1000100 + h;
    s.next_sweep = 0x1000200 + h;
    s.saved_min = 0x1000300 + h;
    s.saved_max = 0x1000400 + h;
    s.card_table = 0x1000500 + h;
    s.saved_sweep_segment = 0x1000600 + h;
    s.saved_sweep_start = 0x1000700 + h;
    s.internal_roots = 0x1000800 + h;
    s.internal_root_index = 17 + h;
    s.analyze_success = h == 0;
    s.interesting = {1, 2, 3, 4, 5, 6, 7, 8, 9 + h};
    s.compact = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21 + h};
    s.expand = {31, 32, 33, 34, 35, 36 + h};
    s.bits = {41, 42 + h};
    s.finalize_counts = {0, 1, 2, 3, 4, 5, 6 + h};
    s.oom.reason = 4;
    s.oom.alloc_size = 1000 + h;
    s.oom.reserved = 0x2000;
    s.oom.allocated = 0x3000;
    s.oom.gc_index = 12;
    s.oom.fgm = 2;
    s.oom.size = 4096;
    s.oom.available_pagefile_mb = 77;
    s.oom.loh_p = h == 0;
  }
  heap.gc.global_mechanisms = {51, 52, 53, 54, 55, 56};
  heap.gc.background_state = 1;
}

// Windows' linker puts the pointer to the table in front of it, so where the table ends is not known.
TEST(GcHeaps1, AdaptationModeWhateverLiesBehindTheTable) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9, Net::net10}) {
      HeapShape shape{.format = format, .net = net, .server = true, .heaps = 2, .published = net != Net::net8};
      SCOPED_TRACE(name_of(shape));
      HeapBuilder heap(shape);
      fill(heap);
      heap.dac_globals_in_front = true;
      Opened opened(heap);
      const Gc &gc = opened.runtime.gc();
      EXPECT_EQ(gc.try_get_gc_dynamic_adaptation_mode(), net == Net::net10 ? std::optional(1) : std::nullopt);
      EXPECT_EQ(gc.has_identifier("dynamic_heap"), net == Net::net10);
    }
}

TEST(GcHeaps1, EveryDatum) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    fill(heap);
    Opened opened(heap);
    const Gc &gc = opened.runtime.gc();
    const bool published = shape.net == Net::net11 && shape.published;
    EXPECT_EQ(gc.get_current_gc_state(), 1u);
    EXPECT_EQ(gc.get_global_mechanisms(), heap.gc.global_mechanisms);
    if (shape.server && shape.net >= Net::net10)
      EXPECT_EQ(gc.try_get_gc_dynamic_adaptation_mode(), 1);
    else
      EXPECT_EQ(gc.try_get_gc_dynamic_adaptation_mode(), std::nullopt);
    std::vector<Address> heaps = gc.get_gc_heaps();
    for (u32 h = 0; h < shape.heaps; ++h) {
      const GcHeapState &s = heap.gc.heaps[h];
      GCHeapData data = gc.get_heap_data(heaps[h]);
      EXPECT_EQ(data.mark_array, s.mark_array);
      EXPECT_EQ(data.next_sweep_object, s.next_sweep);
      EXPECT_EQ(data.background_saved_min_address, s.saved_min);
      EXPECT_EQ(data.background_saved_max_address, s.saved_max);
      // GcDacVars has none for workstation GC.
      // The others say so by a variable that workstation GC has for all.
      std::optional<u64> variable = opened.target->memory.try_pointer(heap.variables.at("CardTable"));
      EXPECT_EQ(data.card_table, shape.server || published ? std::optional(s.card_table) : variable);
      EXPECT_EQ(data.saved_sweep_ephemeral_segment,
                shape.regions ? std::nullopt : std::optional(s.saved_sweep_segment));
      EXPECT_EQ(data.saved_sweep_ephemeral_start, shape.regions ? std::nullopt : std::optional(s.saved_sweep_start));
      EXPECT_EQ(data.internal_root_array, s.internal_roots);
      EXPECT_EQ(data.internal_root_array_index, s.internal_root_index);
      EXPECT_EQ(data.heap_analyze_success, s.analyze_success);
      EXPECT_EQ(data.interesting_data, s.interesting);
      EXPECT_EQ(data.compact_reasons, s.compact);
      EXPECT_EQ(data.expand_mechanisms, s.expand);
      EXPECT_EQ(data.interesting_mechanism_bits, s.bits);
      std::vector<GCFinalizeQueuePart> parts = finalize_queue_parts(data);
      ASSERT_EQ(parts.size(), 7u);
      constexpr const char *names[] = {"poh", "loh", "gen2", "gen1", "gen0", "critical", "ready"};
      for (u64 i = 0; i < 7; ++i) {
        EXPECT_STREQ(parts[i].name, names[i]);
        EXPECT_EQ((parts[i].end - parts[i].start) / heap.p, s.finalize_counts[i]) << names[i];
      }
      GCOomData oom = gc.get_oom_data(heaps[h]);
      EXPECT_TRUE(oom.happened());
      EXPECT_EQ(oom.reason, 4);
      EXPECT_EQ(oom.alloc_size, 1000 + h);
      EXPECT_EQ(oom.reserved, 0x2000u);
      EXPECT_EQ(oom.allocated, 0x3000u);
      EXPECT_EQ(oom.gc_index, 12u);
      EXPECT_EQ(oom.fgm, 2);
      EXPECT_EQ(oom.size, 4096u);
      EXPECT_EQ(oom.available_pagefile_mb, 77u);
      EXPECT_EQ(oom.loh_p, h == 0);
    }
    // Each kind of GC refuses the other's question.
    EXPECT_THROW(gc.get_heap_data(shape.server ? 0 : 0x1000), Error);
    EXPECT_THROW(gc.get_oom_data(shape.server ? 0 : 0x1000), Error);
  }
}

// What the tests of the layouts refuse is missing, and named; nothing else suffers.
TEST(GcHeaps1, UnlikelyStructuresAreNotTaken) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format, .net = Net::net10});
    fill(heap);
    heap.gc.heaps[0].oom.reason = 1000;
    heap.gc.heaps[0].finalize_counts[3] = ~u64{0}; // the parts' ends do not ascend
    Opened opened(heap);
    const ContractDescriptor &d = opened.runtime.descriptor();
    EXPECT_TRUE(d.missing.contains("OomHistory"));
    EXPECT_TRUE(d.missing.contains("CFinalize.FillPointers"));
    EXPECT_THROW(opened.runtime.gc().get_oom_data(0), Error);
    GCHeapData data = opened.runtime.gc().get_heap_data(0);
    EXPECT_EQ(data.fill_pointers, std::nullopt);
    EXPECT_TRUE(finalize_queue_parts(data).empty());
    EXPECT_EQ(data.interesting_data, heap.gc.heaps[0].interesting);
  }
}

TEST(GcHeaps1, FillPointersThatDescendAreNoQueue) {
  GCHeapData data;
  data.fill_pointers = std::vector<Address>{0x100, 0x100, 0x180, 0x170, 0x180, 0x180, 0x180};
  EXPECT_TRUE(finalize_queue_parts(data).empty());
  data.fill_pointers = std::vector<Address>{0x100};
  EXPECT_TRUE(finalize_queue_parts(data).empty());
}

TEST(GcHeaps1, CountersAreNamed) {
  EXPECT_EQ(compact_reason_name(0), "low_ephemeral");
  EXPECT_EQ(compact_reason_name(10), "no_gc_mode");
  EXPECT_EQ(compact_reason_name(99), "reason_99");
  EXPECT_EQ(expand_mechanism_name(5), "next_full_gc");
  EXPECT_EQ(interesting_data_point_name(8), "post_short_padded");
  EXPECT_EQ(interesting_mechanism_name(1), "demotion");
  EXPECT_EQ(global_mechanism_name(5), "elevation");
  EXPECT_EQ(gc_state_name(2), "free");
  EXPECT_EQ(dynamic_adaptation_mode_name(1), "to_application_sizes");
  EXPECT_EQ(dynamic_adaptation_mode_name(-1), "mode -1");
  EXPECT_EQ(oom_reason_text(3), "memory could not be reserved");
  EXPECT_EQ(oom_reason_text(-7), "reason -7");
  EXPECT_EQ(failure_get_memory_text(5), "the GC's own tables could not be committed");
}

TEST(GcHeaps1, NeitherWorkstationNorServer) {
  ContractDescriptor d;
  Memory memory;
  Gc1 gc(memory, d);
  for (const char *text : {"", ",", "regions, background", "workstations"}) {
    d.set_text("GCIdentifiers", text, Origin::published);
    EXPECT_THROW(gc.get_gc_heap_count(), Error) << text;
    EXPECT_THROW(gc.get_gc_heaps(), Error) << text;
  }
  d.set_text("GCIdentifiers", " ,workstation ,, segments,", Origin::published);
  EXPECT_EQ(gc.get_gc_identifiers(), (std::vector<std::string>{"workstation", "segments"}));
  EXPECT_EQ(gc.get_gc_heap_count(), 1u);
}

TEST(GcHeaps1, NextObjectSkipsContexts) {
  constexpr Format wide{8, ByteOrder::little}, narrow{4, ByteOrder::big};
  std::vector<AllocationContext> contexts = {{0x5000, 0x6000}, {0x1018, 0x1100}};
  EXPECT_EQ(Gc1::get_potential_next_object_address(0x1000, 24, G::gen0, contexts, wide), 0x1118u);
  EXPECT_EQ(Gc1::get_potential_next_object_address(0x1000, 24, G::gen0, contexts, narrow), 0x110cu);
  EXPECT_EQ(Gc1::get_potential_next_object_address(0x1000, 32, G::gen0, contexts, wide), 0x1020u);
  EXPECT_EQ(Gc1::get_potential_next_object_address(0x1000, 24, G::gen1, contexts, wide), 0x1018u);
}

} // namespace
} // namespace dnheap::test
