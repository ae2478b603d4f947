// Shapes that real heaps have and that no test should hold: an array of 1 GB, one of more than 4 GB, and an object to
// which 30 million others refer. Counted exactly.
#include "algorithms/dominator_tree.h"
#include "objects/find_referrers.h"
#include "objects/reference_check.h"
#include "support/elf_writer.h"
#include "support/large_memory.h"
#include "support/random_graph.h"
#include "support/sanitized.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

ReferenceCheck check(const Indexed &in) {
  return check_references(
      in.opened.heap, in.opened.runtime, *in.index, *in.references, HeaderCheck(in.opened.runtime),
      [](Address) { return true; }, 2, {}, 10);
}

u64 live(const Indexed &in, Address root) {
  RootStage stage{"", {root}};
  return mark_live(*in.index, *in.references, {&stage, 1}, 2, {}).stages[0].objects;
}

// Writes an array without elements at the begin of the segment's memory; returns where it lies.
Address put_array(SegmentWriter &segment, LargeMemory &memory, Address type, u64 length) {
  FormatWriter head(segment.block.format());
  head.pointer(type);
  head.pointer(length);
  std::copy(head.bytes().begin(), head.bytes().end(), memory.data() + (segment.start - segment.block.address()));
  segment.backing = memory.bytes();
  return segment.start;
}

TEST(LargeShapes, AnArrayOfAGigabyte) {
  constexpr u64 length = (u64{1} << 27) - 64;
  HeapBuilder heap({});
  SegmentWriter &small = heap.segment(G::gen2), &large = heap.segment(G::loh);
  std::vector<Address> o;
  for (int i = 0; i < 5; ++i)
    o.push_back(small.object(heap.object_type));
  LargeMemory memory(0x28 + 8 * (3 + length));
  Address array = put_array(large, memory, heap.object_array_type, length);
  std::byte *elements = memory.data() + 0x28 + 16;
  for (auto [i, to] : {std::pair{u64{0}, o[0]}, {length / 2, o[1]}, {length - 1, o[2]}, {length / 3, o[3] + 8}})
    std::memcpy(elements + 8 * i, &to, 8);
  Indexed in(heap);
  EXPECT_EQ(in.tally.walk.objects, 6u);
  EXPECT_TRUE(in.tally.walk.gaps.empty());
  ReferenceCheck found = check(in);
  EXPECT_EQ(found.references, 4u);
  ASSERT_EQ(found.bad_references.size(), 1u);
  EXPECT_EQ(found.bad_references[0].slot, array + 16 + 8 * (length / 3));
  EXPECT_EQ(live(in, array), 4u);
  ObjectSizeColumn sizes(in.index->count());
  ObjectGraph graph(*in.index, *in.references, in.opened.heap, 2, {}, {}, &sizes);
  EXPECT_EQ(sizes.sizes().of(in.index->find(array)), 24 + 8 * length);
  EXPECT_EQ(graph.edges().of(in.index->find(array)).size(), 3u);
}

TEST(LargeShapes, AnArrayOfFiveGigabytes) {
  constexpr u64 length = 5 * (u64{1} << 27);
  HeapBuilder heap({});
  SegmentWriter &large = heap.segment(G::loh);
  Address numbers =
      heap.method_table({.base_size = 24, .component_size = 8, .flags = 0x000a0000, .element = heap.object_type});
  LargeMemory memory(0x28 + 8 * (3 + length));
  Address array = put_array(large, memory, numbers, length);
  Indexed in(heap);
  ASSERT_EQ(in.tally.walk.objects, 1u);
  ObjectSizeColumn sizes(in.index->count());
  ObjectGraph graph(*in.index, *in.references, in.opened.heap, 2, {}, {}, &sizes);
  EXPECT_EQ(sizes.sizes().of(in.index->find(array)), 24 + 8 * length);
  std::vector<OwnedRoot> roots = {{in.index->find(array), OwnerId{0}}};
  DominatorTree tree(graph.edges(), sizes.sizes(), {1, 1, roots}, 1, {});
  EXPECT_EQ(tree.retained(tree.place(OwnerId{0})), (Retained{1, 24 + 8 * length}));
}

TEST(LargeShapes, AnObjectWithThirtyMillionReferrers) {
  constexpr u64 millions = sanitized ? 1 : 30;
  // Objects of 24 bytes, {MethodTable, reference, header of the next}, from the second word of one on.
  constexpr u64 object = 24, period = 3 * 4096 * 256;
  const u64 times = millions * 1'000'000 * object / period + 1;
  HeapBuilder heap({});
  SegmentWriter &first = heap.segment(G::gen2), &many = heap.segment(G::gen2);
  Address hub = first.object(heap.object_type);
  Address node = heap.method_table({.base_size = object, .series = {{8, 8}}});
  const u64 start = many.start - many.block.address();
  ASSERT_EQ(start % object, 16u);
  FormatWriter pages{Format()};
  while (pages.size() < period) {
    pages.pointer(hub);
    pages.pointer(0);
    pages.pointer(node);
  }
  LargeMemory memory(pages.bytes(), times);
  many.backing = memory.bytes().first(period * times - (period * times - start) % object);
  const u64 referrers = (many.backing.size() - start) / object;
  ASSERT_GE(referrers, millions * 1'000'000 - 2);
  Indexed in(heap);
  EXPECT_EQ(in.tally.walk.objects, referrers + 1);
  EXPECT_TRUE(in.tally.walk.gaps.empty());
  EXPECT_EQ(in.index->count(), referrers + 1);
  ReferenceCheck found = check(in);
  EXPECT_EQ(found.references, referrers);
  EXPECT_EQ(found.bad, 0u);
  EXPECT_EQ(live(in, hub), 1u);
  EXPECT_EQ(live(in, many.start + object * (referrers / 2)), 2u);
  std::vector<ObjectId> of = find_referrers(*in.index, *in.references, hub, 2, {});
  ASSERT_EQ(of.size(), referrers);
  EXPECT_EQ(of.front(), ObjectId{1});
  EXPECT_EQ(of.back(), ObjectId{static_cast<u32>(referrers)});
}

} // namespace
} // namespace dnheap::test
