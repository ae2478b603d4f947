// The walk over a CoreRT process (NF16): segments, allocation contexts, sizes and alignment as that format has them,
// and what the library says where the format cannot be read.
#include "heap/object_cursor.h"
#include "heap/tally.h"
#include "runtime/corert/core_rt.h"
#include "support/nf16_builder.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

struct OpenedNf16 {
  explicit OpenedNf16(Nf16Builder &builder)
      : target(builder.target()), runtime(*target, target->modules.at(0)), heap(runtime) {}

  std::unique_ptr<Target> target;
  CoreRt runtime;
  Heap heap;
};

std::vector<WrittenObject> walked(const OpenedNf16 &opened) {
  std::vector<WrittenObject> out;
  ObjectCursor cursor(opened.heap, opened.runtime);
  while (const Object *object = cursor.next())
    out.push_back({object->address, cursor.method_table(), object->size, object->aligned_size, cursor.generation()});
  return out;
}

std::vector<WrittenObject> by_address(std::vector<WrittenObject> objects) {
  std::sort(objects.begin(), objects.end(), [](const auto &a, const auto &b) { return a.address < b.address; });
  return objects;
}

bool has_part(std::span<const std::string> texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string &text) { return text.find(part) != std::string::npos; });
}

// Strings (component size 2, odd base size), arrays, plain objects, in every segment.
void add_objects(Nf16Builder &process, Nf16Segment &segment, u64 count, std::mt19937_64 &random) {
  std::vector<Address> &of = process.some_types;
  const u64 p = process.p;
  if (of.empty())
    of = {process.type(3 * p),
          process.type(7 * p),
          process.type(2 * p + 6, 2),
          process.type(3 * p, 1),
          process.type(3 * p, 12, false),
          process.type(3 * p, 0xffff)};
  for (u64 i = 0; i < count; ++i) {
    u64 kind = random() % of.size();
    segment.object(of[kind], kind < 2 ? 0 : random() % (kind == 5 ? 3 : 40));
  }
}

TEST(Nf16Heap, EveryObjectInFourFormats) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    std::mt19937_64 random(1);
    for (G g : {G::gen2, G::gen2, G::loh, G::loh})
      add_objects(process, process.segment(g), 50, random);
    Nf16Segment &young = process.segment(G::gen0);
    add_objects(process, young, 20, random);
    young.begin_gen1();
    add_objects(process, young, 20, random);
    young.begin_gen0();
    add_objects(process, young, 20, random);
    process.context = young.context(100 * process.p);
    add_objects(process, young, 20, random);
    OpenedNf16 opened(process);
    EXPECT_TRUE(opened.heap.notes().empty()) << opened.heap.notes().texts()[0];
    EXPECT_EQ(walked(opened), by_address(process.objects));
    HeapTally tally = tally_heap(opened.heap, opened.runtime, 2, {});
    EXPECT_EQ(tally.walk.objects, process.objects.size());
    EXPECT_EQ(tally.walk.bytes + opened.heap.context_bytes(), opened.heap.segment_bytes());
    EXPECT_EQ(opened.heap.context_bytes(), 103 * process.p);
    EXPECT_EQ(tally.types.size(), 6u);
    for (const SegmentTally &segment : tally.segments)
      EXPECT_EQ(segment.free.count, 0u); // which type Free is, the format does not say
  }
}

TEST(Nf16Heap, LargeObjectsAreAlignedToEightBytes) {
  Nf16Builder process({4, ByteOrder::little});
  Address odd = process.type(5 * 4);
  for (G g : {G::gen2, G::loh, G::gen0}) {
    Nf16Segment &segment = process.segment(g);
    for (int i = 0; i < 3; ++i)
      segment.object(odd);
  }
  OpenedNf16 opened(process);
  std::map<G, u64> sizes;
  for (const WrittenObject &object : walked(opened))
    sizes[object.generation] = object.aligned_size;
  EXPECT_EQ(sizes, (std::map<G, u64>{{G::gen0, 20}, {G::gen2, 20}, {G::loh, 24}}));
}

TEST(Nf16Heap, RoomBehindAContextIsWhatTheContractSays) {
  for (u32 words : {2, 3, 7}) {
    Nf16Builder process({});
    process.gc.min_object_size = words * 8;
    Nf16Segment &young = process.segment(G::gen0);
    Address type = process.type(24);
    young.object(type);
    process.context = young.context(0); // used up: the room behind it is there all the same
    Address behind = young.object(type);
    OpenedNf16 opened(process);
    ASSERT_EQ(opened.heap.ranges().size(), 2u);
    EXPECT_EQ(opened.heap.ranges()[1].address, behind);
    EXPECT_EQ(opened.heap.context_bytes(), words * 8);
    EXPECT_EQ(walked(opened), by_address(process.objects));
  }
}

// Nothing in the format leads to threads: what they have not handed out yet is a gap, not a guess. It ends behind the
// objects by which the walk found its way again.
TEST(Nf16Heap, ContextsOfThreadsAreGaps) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    std::mt19937_64 random(2);
    Nf16Segment &young = process.segment(G::gen0);
    add_objects(process, young, 40, random);
    AllocationContext unknown = young.context(200);
    add_objects(process, young, 40, random);
    OpenedNf16 opened(process);
    HeapTally tally = tally_heap(opened.heap, opened.runtime, 1, {});
    ASSERT_EQ(tally.walk.gaps.count(), 1u);
    const Gap gap = tally.walk.gaps.listed()[0];
    EXPECT_EQ(gap.start, unknown.pointer);
    EXPECT_EQ(gap.end, process.objects[40].address) << "and no object is lost";
    std::vector<WrittenObject> expected = by_address(process.objects);
    EXPECT_EQ(walked(opened), expected);
  }
}

TEST(Nf16Heap, Names) {
  Nf16Builder process({});
  Nf16Segment &young = process.segment(G::gen0);
  Address own = process.type(24), dynamic = process.type(24, 0, false);
  young.object(own);
  young.object(dynamic);
  OpenedNf16 opened(process);
  TypeSystem &types = opened.runtime.types();
  EXPECT_TRUE(types.notes().empty());
  EXPECT_EQ(types.name(own), "shop!0x100040");
  EXPECT_EQ(types.name(dynamic), "<type 0x7f0020000040>");
  EXPECT_TRUE(has_part(types.notes().texts(), "2 types are named by module"));
  EXPECT_EQ(types.free_object_method_table(), 0u);
}

TEST(Nf16Heap, WithoutTheGcContractNobodyKnowsWhetherItIsInOrder) {
  for (u16 major : {0, 2}) {
    Nf16Builder process({});
    process.versions[0].major = major;
    process.segment(G::gen0).object(process.type(24));
    OpenedNf16 opened(process);
    EXPECT_EQ(walked(opened).size(), 1u); // the rest goes on
    Notes problems;
    EXPECT_FALSE(opened.runtime.gc_structures_valid(problems).has_value());
    EXPECT_TRUE(has_part(problems.texts(), "GC Contract"));
    EXPECT_TRUE(opened.runtime.descriptor().missing.contains("GC Contract"));
  }
}

TEST(Nf16Heap, StructuresInvalid) {
  for (Format format : all_formats)
    for (u32 count : {0u, 1u, 0x01000000u}) {
      Nf16Builder process(format);
      process.structures_invalid = count;
      process.segment(G::gen0).object(process.type(24));
      OpenedNf16 opened(process);
      Notes problems;
      EXPECT_EQ(opened.runtime.gc_structures_valid(problems), std::optional(count == 0));
      EXPECT_TRUE(problems.empty());
    }
}

TEST(Nf16Heap, WithoutTheWorkstationGcContractThereAreNoSegments) {
  for (u16 major : {0, 2}) {
    Nf16Builder process({});
    process.versions[1].major = major;
    process.segment(G::gen0).object(process.type(24));
    OpenedNf16 opened(process);
    EXPECT_TRUE(opened.heap.segments().empty());
    EXPECT_TRUE(has_part(opened.heap.notes().texts(), "Workstation GC Contract"));
    Notes problems;
    EXPECT_EQ(opened.runtime.gc_structures_valid(problems), true); // that contract is there
  }
}

TEST(Nf16Heap, ADumpWithoutHeapSaysSo) {
  Nf16Builder process({});
  Nf16Segment &young = process.segment(G::gen0);
  for (int i = 0; i < 100; ++i)
    young.object(process.type(24));
  process.hole(young.block.address(), young.end());
  OpenedNf16 opened(process);
  EXPECT_NE(opened.runtime.why_no_heap().find("the dump holds 0 B of the managed heap's"), std::string::npos)
      << opened.runtime.why_no_heap();
}

// Whatever is damaged: no crash, no endless loop, and the sum closes.
TEST(Nf16Heap, RandomDamage) {
  std::mt19937_64 random(4);
  u64 opened_well = 0, same = 0;
  for (u64 round = 0; round < 2000; ++round) {
    Nf16Builder process(all_formats[round % 4]);
    add_objects(process, process.segment(G::gen2), 30, random);
    add_objects(process, process.segment(G::loh), 10, random);
    Nf16Segment &young = process.segment(G::gen0);
    add_objects(process, young, 30, random);
    process.context = young.context(64);
    process.build();
    for (u64 i = 0; i < 1 + random() % 4; ++i) {
      static constexpr u64 values[] = {0, 1, 0x7fffffff, ~u64{0}, 0xfffffff8};
      const Block *blocks[] = {&process.data, &process.native, &process.segments[random() % 3].block};
      const Block &block = *blocks[random() % 3];
      Address at = block.address() + random() % block.bytes().size();
      process.poke(at, random() % 3 ? random() : values[random() % 5], random() % 2 ? process.p : 1);
    }
    try {
      OpenedNf16 opened(process);
      HeapTally tally = tally_heap(opened.heap, opened.runtime, 1, {});
      u64 gaps = 0;
      for (const Gap &gap : tally.walk.gaps.listed())
        gaps += gap.end - gap.start;
      for (const Gap &gap : opened.heap.gaps())
        gaps += gap.end - gap.start;
      ASSERT_EQ(tally.walk.bytes + opened.heap.context_bytes() + gaps, opened.heap.segment_bytes()) << round;
      ++opened_well;
      same += walked(opened) == by_address(process.objects);
    } catch (const Error &) {
    }
  }
  EXPECT_GT(opened_well, 1000u);
  EXPECT_GT(same, 200u);
  EXPECT_LT(same, 1900u); // or nothing was damaged
}

} // namespace
} // namespace dnheap::test
