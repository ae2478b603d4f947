// GC contract: free regions and bookkeeping, published and derived.
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;
using K = FreeRegionKind;

void fill(HeapBuilder &heap) {
  for (u32 h = 0; h < heap.shape.heaps; ++h) {
    if (heap.shape.regions)
      heap.segment(G::gen0, h).object(heap.object_type);
    else
      heap.ephemeral(h).object(heap.object_type);
    GcHeapState &s = heap.gc.heaps[h];
    s.free_regions[0] = {{0x10000 + h, 0x11000}, {0x20000, 0x21000}};
    s.free_regions[1] = {{0x30000, 0x38000}};
    s.freeable_soh = {{0x50000 + h, 0x50100}};
    s.freeable_uoh = {{0x60000, 0x60100}, {0x70000, 0x60100}}; // the last one: nothing committed
  }
  heap.gc.to_decommit[0] = {{0x80000, 0x80800}};
  heap.gc.to_decommit[2] = {{0x90000, 0x90400}};
  heap.gc.huge = {{0xa0000, 0xb0000}};
  heap.gc.card_table_bytes = {0x500000, 0x400000, 0x300000};
}

TEST(GcRegions1, FreeRegions) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    fill(heap);
    Opened opened(heap);
    Notes problems;
    std::vector<std::string> found, expected;
    for (const GCMemoryRegionData &r : opened.runtime.gc().get_gc_free_regions(problems))
      found.push_back(std::string(name_of(r.kind)) + " " + (r.region_size ? name_of(*r.region_size) : "-") + " " +
                      std::to_string(r.heap) + " " + std::to_string(r.start) + " " + std::to_string(r.size));
    auto add = [&](const std::string &kind, u32 h, u64 start, u64 size) {
      expected.push_back(kind + " " + std::to_string(h) + " " + std::to_string(start) + " " + std::to_string(size));
    };
    if (shape.regions) {
      add("global_huge_region huge", 0, 0xa0000, 0x10000);
      add("global_region basic", 0, 0x80000, 0x800);
      add("global_region huge", 0, 0x90000, 0x400);
    }
    for (u32 h = 0; h < shape.heaps; ++h) {
      if (shape.regions) {
        add("region basic", h, 0x10000 + h, 0x1000 - h);
        add("region basic", h, 0x20000, 0x1000);
        add("region large", h, 0x30000, 0x8000);
      }
      add("soh_segment -", h, 0x50000 + h, 0x100 - h);
      add("uoh_segment -", h, 0x60000, 0x100);
      add("uoh_segment -", h, 0x70000, 0);
    }
    EXPECT_EQ(found, expected);
    EXPECT_TRUE(problems.empty()) << problems[0].text;
  }
}

TEST(GcRegions1, EmptyListsNeedNoProof) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format, .net = Net::net10});
    heap.segment(G::gen0).object(heap.object_type);
    Opened opened(heap);
    Notes problems;
    EXPECT_TRUE(opened.runtime.gc().get_gc_free_regions(problems).empty());
    EXPECT_TRUE(problems.empty());
  }
}

TEST(GcRegions1, WrongCountsAreNotTaken) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format, .net = Net::net10});
    fill(heap);
    heap.target();
    heap.poke(heap.variables.at("huge"), 2, heap.p); // it has one
    Opened opened(heap);
    EXPECT_TRUE(opened.runtime.descriptor().missing.contains("RegionFreeList"));
    Notes problems;
    for (const GCMemoryRegionData &r : opened.runtime.gc().get_gc_free_regions(problems))
      EXPECT_TRUE(r.kind == K::soh_segment || r.kind == K::uoh_segment);
    ASSERT_FALSE(problems.empty());
    EXPECT_NE(problems[0].text.find("RegionFreeList.HeadFreeRegion is unknown"), std::string::npos);
  }
}

TEST(GcRegions1, CirclesEnd) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    fill(heap);
    std::unique_ptr<Target> target = heap.target();
    Address first = *target->memory.try_pointer(heap.variables.at("huge") + 5 * heap.p);
    heap.poke(first + 6 * heap.p, first, heap.p);
    Opened opened(heap);
    Notes problems;
    u64 huge = 0;
    for (const GCMemoryRegionData &r : opened.runtime.gc().get_gc_free_regions(problems))
      huge += r.kind == K::global_huge_region;
    EXPECT_EQ(huge, 1u);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].text.find("(global_huge_region) runs in a circle"), std::string::npos);
  }
}

TEST(GcRegions1, CardTables) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    fill(heap);
    Opened opened(heap);
    Notes problems;
    std::optional<std::vector<GCMemoryRegionData>> found =
        opened.runtime.gc().get_gc_bookkeeping_memory_regions(problems);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 3u);
    for (u64 i = 0; i < 3; ++i)
      EXPECT_EQ((*found)[i].size, heap.gc.card_table_bytes[i]);
    EXPECT_TRUE(problems.empty());
    // Not used any more, and a circle.
    heap.poke((*found)[1].start, 0, 4);
    heap.poke((*found)[2].start + 2 * heap.p, (*found)[0].start + 64, heap.p);
    Opened damaged(heap);
    std::vector<GCMemoryRegionData> left = *damaged.runtime.gc().get_gc_bookkeeping_memory_regions(problems);
    ASSERT_EQ(left.size(), 2u);
    EXPECT_EQ(left[1].size, heap.gc.card_table_bytes[2]);
    EXPECT_EQ(problems.size(), 1u);
  }
}

TEST(GcRegions1, NoCardTableIsAbsentAndSaid) {
  HeapBuilder heap({});
  heap.segment(G::gen0).object(heap.object_type);
  heap.gc.card_table_bytes = {};
  Opened opened(heap);
  Notes problems;
  EXPECT_EQ(opened.runtime.gc().get_gc_bookkeeping_memory_regions(problems), std::nullopt);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].text.find("BookkeepingStart is 0"), std::string::npos);
}

} // namespace
} // namespace dnheap::test
