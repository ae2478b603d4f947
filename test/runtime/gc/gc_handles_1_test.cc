// GC contract: handle tables, published and derived.
#include "support/opened.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;
using H = HandleType;

bool has_kind(Net net, H type) { return static_cast<u32>(type) < (net <= Net::net9 ? 11u : 12u); }

// Handles of all kinds that the version's tables have room for, more than one block of some, in all tables.
void fill(HeapBuilder &heap) {
  Address first = 0;
  for (u32 h = 0; h < heap.shape.heaps; ++h)
    if (heap.shape.regions)
      first = heap.segment(G::gen0, h).object(heap.object_type);
    else
      first = heap.ephemeral(h).object(heap.object_type);
  heap.gc.processors = heap.shape.server ? heap.shape.heaps + 3 : 1;
  for (u32 table = 0; table < heap.gc.processors; ++table)
    for (u32 kind = 0; kind < handle_type_count; ++kind) {
      H type = static_cast<H>(kind);
      if (!has_kind(heap.shape.net, type))
        continue;
      for (u32 i = 0; i < (type == H::strong ? 150 : type == H::dependent ? 70 : 3); ++i) {
        HandleWriter handle{.type = type, .object = first, .table = table, .segment = i % 2};
        if (has_secondary(type) && i != 2)
          handle.secondary = 0x1000000 + 16 * i;
        heap.gc.handles.push_back(handle);
      }
    }
}

std::vector<HandleData> all_handles(const Gc &gc, Notes &problems) {
  std::vector<HandleData> out = gc.get_handles(gc.get_supported_handle_types(), problems);
  std::sort(out.begin(), out.end(), [](const auto &a, const auto &b) { return a.handle < b.handle; });
  return out;
}

void find_all_kinds_in_all_tables(bool text_only) {
  for (const HeapShape &shape : all_shapes()) {
    if (text_only && shape.net != Net::net11)
      continue;
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    fill(heap);
    heap.gc.text_only = text_only;
    Opened opened(heap);
    const Gc &gc = opened.runtime.gc();
    Notes problems;
    std::vector<HandleData> found = all_handles(gc, problems);
    EXPECT_EQ(problems.texts(), std::vector<std::string>());
    std::vector<HandleWriter> written = heap.gc.handles;
    std::sort(written.begin(), written.end(), [](const auto &a, const auto &b) { return a.address < b.address; });
    ASSERT_EQ(found.size(), written.size());
    for (u64 i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].handle, written[i].address);
      ASSERT_EQ(found[i].object, written[i].object);
      ASSERT_EQ(found[i].type, written[i].type);
      ASSERT_EQ(found[i].table, written[i].table);
      // A block of second words serves all of a block; slots that nobody set are null.
      if (has_secondary(written[i].type)) {
        ASSERT_EQ(found[i].secondary.value_or(0), written[i].secondary.value_or(0));
        ASSERT_EQ(gc.get_handle_extra_info(found[i].handle), found[i].secondary);
      } else {
        ASSERT_EQ(found[i].secondary, std::nullopt);
        ASSERT_EQ(gc.get_handle_extra_info(found[i].handle), std::nullopt);
      }
    }
    EXPECT_EQ(gc.get_supported_handle_types().size(), shape.net <= Net::net9 ? 11u : 12u);
    if (text_only) { // their size is not in the text
      EXPECT_THROW(gc.get_handle_table_memory_regions(problems), Error);
      continue;
    }
    std::vector<GCMemoryRegionData> regions = gc.get_handle_table_memory_regions(problems);
    ASSERT_EQ(regions.size(), heap.handle_segments.size());
    for (const GCMemoryRegionData &region : regions)
      EXPECT_EQ(region.size, 0x10000u);
    EXPECT_EQ(regions.back().heap, heap.gc.processors - 1);
  }
}

TEST(GcHandles1, AllKindsInAllTables) { find_all_kinds_in_all_tables(false); }

// A runtime that publishes what the specification lists, and no more, has all its handles too.
TEST(GcHandles1, NeedNoMoreThanTheText) {
  find_all_kinds_in_all_tables(true);
  HeapBuilder heap({.server = true, .heaps = 2});
  fill(heap);
  heap.gc.text_only = true;
  Opened opened(heap);
  EXPECT_FALSE(opened.runtime.descriptor().find_global("HandleSegmentSize"));
  const u64 values = heap.handle_segments[1].address() + 0x1000, count = 0xf000 / 8;
  const Gc &gc = opened.runtime.gc();
  EXPECT_NO_THROW(gc.get_handle_extra_info(values));
  EXPECT_NO_THROW(gc.get_handle_extra_info(values + (count - 1) * 8));
  for (Address at : {values - 8, values + 1, values + 64 * 8 * 120, Address{0x7000}})
    EXPECT_THROW(gc.get_handle_extra_info(at), Error) << at - values;
}

// What the runtime's own tests ask for: one kind alone, none, and numbers that are no kinds.
TEST(GcHandles1, KindsThatAreAskedFor) {
  HeapBuilder heap({.server = true, .heaps = 2});
  fill(heap);
  Opened opened(heap);
  const Gc &gc = opened.runtime.gc();
  Notes problems;
  for (auto [type, count] : {std::pair{H::strong, 150u}, {H::dependent, 70u}, {H::pinned, 3u}}) {
    std::vector<HandleData> found = gc.get_handles(std::array{type}, problems);
    EXPECT_EQ(found.size(), count * heap.gc.processors) << name_of(type);
    for (const HandleData &handle : found)
      EXPECT_EQ(handle.type, type);
  }
  EXPECT_TRUE(gc.get_handles({}, problems).empty());
  std::array<u32, 5> numbers = {2, 99, 6, 12, 10};
  EXPECT_EQ(Gc1::get_handle_types(numbers), (std::vector<H>{H::strong, H::dependent, H::weak_interior_pointer}));
}

TEST(GcHandles1, StrongOrNot) {
  std::vector<H> strong;
  for (u32 i = 0; i < handle_type_count; ++i)
    if (is_strong(static_cast<H>(i)))
      strong.push_back(static_cast<H>(i));
  EXPECT_EQ(strong, (std::vector<H>{H::strong, H::pinned, H::async_pinned, H::sized_ref}));
  HeapBuilder heap({});
  fill(heap);
  Opened opened(heap);
  Notes problems;
  for (const HandleData &handle : all_handles(opened.runtime.gc(), problems))
    EXPECT_EQ(handle.strong_reference, is_strong(handle.type)) << name_of(handle.type);
}

TEST(GcHandles1, FeaturesThatAreOff) {
  auto has = [](const Gc &gc, H type) {
    std::vector<H> kinds = gc.get_supported_handle_types();
    return std::find(kinds.begin(), kinds.end(), type) != kinds.end();
  };
  auto supported = [&](std::map<std::string, u64> features, H type) {
    HeapBuilder heap({});
    fill(heap);
    heap.gc.features = std::move(features);
    Opened opened(heap);
    return has(opened.runtime.gc(), type);
  };
  std::map<std::string, u64> none = {{"FeatureCOMInterop", 0}, {"FeatureComWrappers", 0}, {"FeatureObjCMarshal", 0}};
  EXPECT_FALSE(supported(none, H::ref_counted));
  for (const char *one : {"FeatureCOMInterop", "FeatureComWrappers", "FeatureObjCMarshal"}) {
    std::map<std::string, u64> features = none;
    features[one] = 1;
    EXPECT_TRUE(supported(features, H::ref_counted)) << one;
  }
  EXPECT_TRUE(supported({}, H::ref_counted)) << "not said";
  EXPECT_FALSE(supported({{"FeatureJavaMarshal", 0}}, H::cross_reference));
  EXPECT_TRUE(supported({{"FeatureJavaMarshal", 1}}, H::cross_reference));
}

// COM's references: found through the object's sync block, as .NET 11 on Windows publishes them.
TEST(GcHandles1, ReferenceCounts) {
  struct Case {
    u32 header;
    u64 wrapper, count;
    u32 flags;
    std::optional<u32> expected;
    bool strong;
  };
  constexpr u32 index = 0x08000002; // into the table of sync blocks
  for (Format format : all_formats)
    for (const Case &c : {Case{index, 2, 5, 0, 5u, true},
                          {index, 2, 5, 4, 5u, false},
                          {index, 2, 0, 0, 0u, false},
                          {index, 2, 0x180000007, 0, 7u, true},
                          {index, 1, 5, 0, std::nullopt, false},
                          {index, 0, 5, 0, std::nullopt, false},
                          {0x0c000002, 2, 5, 0, std::nullopt, false},
                          {0x00000002, 2, 5, 0, std::nullopt, false}}) {
      SCOPED_TRACE(name_of(format) + " " + std::to_string(c.header) + " " + std::to_string(c.count));
      HeapBuilder heap({.format = format});
      SegmentWriter &young = heap.segment(G::gen0);
      young.object(heap.object_type);
      Address object = young.object(heap.object_type);
      heap.poke(object - 4, c.header, 4);
      heap.gc.handles = {{.type = H::ref_counted, .object = object}};
      i64 p = static_cast<i64>(heap.p);
      Address simple = heap.native.reserve(32);
      heap.native.put(simple + 8, c.count, 8);
      heap.native.word(simple + 20, c.flags);
      Address wrapper = heap.native.words({0, 0, simple});
      Address interop = heap.native.words({0, c.wrapper == 2 ? wrapper : c.wrapper});
      Address block = heap.native.words({0, 0, 0, interop});
      Address table = heap.native.words({0, 0, 0, 0, block, object});
      heap.gc.pointers["SyncTableEntries"] = heap.native.words({table});
      heap.gc.features = {{"FeatureCOMInterop", 1}, {"ComRefcountMask", 0x7fffffff}};
      heap.gc.types = {{"SyncTableEntry", {{"SyncBlock", 0}}},
                       {"SyncBlock", {{"InteropInfo", 3 * p}}},
                       {"InteropSyncBlockInfo", {{"CCW", p}}},
                       {"ComCallWrapper", {{"SimpleWrapper", 2 * p}}},
                       {"SimpleComCallWrapper", {{"RefCount", 8}, {"Flags", 20}}}};
      auto found = [&] {
        Opened opened(heap);
        Notes problems;
        return opened.runtime.gc().get_handles(std::array{H::ref_counted}, problems).at(0);
      };
      EXPECT_EQ(found().ref_count, c.expected);
      EXPECT_EQ(found().strong_reference, c.strong);
    }
}

// A second map, whose buckets hold another table.
TEST(GcHandles1, MapsAndBuckets) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    fill(heap);
    const u64 p = heap.p;
    Address table = heap.native.reserve(64 + 2 * p), map = heap.native.reserve(3 * p);
    Address buckets = heap.native.reserve(10 * p), bucket = heap.native.words({heap.native.words({table}), 0});
    heap.native.pointer(buckets + 9 * p, bucket);
    heap.native.pointer(map, buckets);
    heap.target();
    // The first table keeps its first segment; the second one belongs to the other table.
    const u64 next = 16 * (0xf000 / (64 * p)) + 6 * 13;
    heap.poke(heap.handle_segments[0].address() + next, 0, p);
    heap.poke(table + align_up(4 * 13, p), heap.handle_segments[1].address(), p);
    u64 before = 0, after = 0;
    Notes problems;
    for (u64 *count : {&before, &after}) {
      Opened opened(heap);
      *count = all_handles(opened.runtime.gc(), problems).size();
      heap.poke(heap.variables.at("handle_map") + p, map, p);
    }
    EXPECT_LT(before, heap.gc.handles.size());
    EXPECT_EQ(after, heap.gc.handles.size());
    // Maps that run in a circle are read once.
    heap.poke(map + p, map, p);
    Opened circle(heap);
    EXPECT_EQ(all_handles(circle.runtime.gc(), problems).size(), heap.gc.handles.size());
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].text.find("list of handle table maps runs in a circle"), std::string::npos);
  }
}

TEST(GcHandles1, DamageIsNamedAndTheRestFound) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    auto damaged = [&](const std::function<void(HeapBuilder &)> &damage, u64 &count) {
      HeapBuilder heap({.format = format, .server = true, .heaps = 2});
      fill(heap);
      heap.target();
      count = heap.gc.handles.size();
      damage(heap);
      Opened opened(heap);
      Notes problems;
      count -= all_handles(opened.runtime.gc(), problems).size();
      return problems.empty() ? "" : problems[0].text;
    };
    u64 lost = 0;
    const u64 per_table = 10 * 3 + 150 + 70, blocks = 0xf000 / (64 * format.pointer_size);
    // A segment that is not in the dump ends its table.
    EXPECT_NE(
        damaged([](HeapBuilder &h) { h.hole(h.handle_segments[0].address(), h.handle_segments[1].address()); }, lost)
            .find("handle"),
        std::string::npos);
    EXPECT_EQ(lost, per_table);
    // A list that runs in a circle is read once.
    EXPECT_NE(damaged(
                  [&](HeapBuilder &h) {
                    h.poke(h.handle_segments[1].address() + 16 * blocks + 6 * 13, h.handle_segments[0].address(), h.p);
                  },
                  lost)
                  .find("runs in a circle"),
              std::string::npos);
    EXPECT_EQ(lost, 0u);
    EXPECT_NE(
        damaged([&](HeapBuilder &h) { h.poke(h.handle_segments[1].address() + 16 * blocks + 6 * 13, 0x123450, h.p); },
                lost)
            .find("has no segment at 0x123450"),
        std::string::npos);
    EXPECT_EQ(lost, 0u);
    // Blocks that are linked to nothing, or to blocks of another kind.
    for (u64 link : {u64{0xfe}, u64{0xff}, blocks})
      EXPECT_NE(damaged(
                    [&](HeapBuilder &h) {
                      for (u64 i = 0; i < blocks; ++i)
                        h.poke(h.handle_segments[0].address() + 4 * blocks + i, link, 1);
                    },
                    lost)
                    .find("are linked wrongly"),
                std::string::npos);
    EXPECT_NE(damaged(
                  [&](HeapBuilder &h) {
                    for (u64 i = 0; i < blocks; ++i)
                      h.poke(h.handle_segments[0].address() + 4 * blocks + i, 3, 1);
                  },
                  lost)
                  .find("are linked wrongly"),
              std::string::npos);
    EXPECT_GT(lost, 0u);
    // Nonsense where the number of tables should be is an error, not a long loop.
    for (u64 count : {u64{0}, u64{5000}, u64{0xffffffff}})
      EXPECT_THROW(damaged([&](HeapBuilder &h) { h.poke(h.variables.at("processors"), count, 4); }, lost), Error);
  }
}

TEST(GcHandles1, NoHandleCanLieThere) {
  HeapBuilder heap({});
  fill(heap);
  Opened opened(heap);
  Address segment = heap.handle_segments[0].address();
  const Gc &gc = opened.runtime.gc();
  for (Address at : {segment, segment + 0xff8, segment + 0x1001, segment + 0x1000 + 120 * 64 * 8, Address{0x7000}})
    EXPECT_THROW(gc.get_handle_extra_info(at), Error) << at - segment;
  EXPECT_NO_THROW(gc.get_handle_extra_info(segment + 0x1000));
}

// The number of kinds is not found unless every table's segment points back at it.
TEST(GcHandles1, LayoutIsTested) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net10}) {
      HeapBuilder heap({.format = format, .net = net});
      fill(heap);
      heap.target();
      const u64 blocks = 0xf000 / (64 * heap.p), kinds = net == Net::net8 ? 12 : 13;
      EXPECT_EQ(Opened(heap).runtime.descriptor().number("HandleMaxInternalTypes"), kinds);
      heap.poke(heap.handle_segments[0].address() + 16 * blocks + 6 * kinds + heap.p, 0x123450, heap.p);
      Opened opened(heap);
      EXPECT_TRUE(opened.runtime.descriptor().missing.contains("HandleMaxInternalTypes"));
      Notes problems;
      EXPECT_THROW(all_handles(opened.runtime.gc(), problems), Error);
    }
}

} // namespace
} // namespace dnheap::test
