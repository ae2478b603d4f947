// What a collection writes between objects while it plans: the walk finds all others, and the generation is told by it.
#include "heap/object_cursor.h"
#include "heap/plan_traces.h"
#include "heap/tally.h"
#include "support/opened.h"
#include "support/random_heap.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// In front of the plug that begins at `plug`, behind a dead stretch of `gap` bytes.
void write_plug(SegmentWriter &segment, u64 p, Address plug, u64 gap, u64 reloc) {
  segment.store(plug - 4 * p, gap, p);
  segment.store(plug - 3 * p, reloc, p);
  segment.store(plug - 2 * p, 0xffc0, 2); // 64 bytes backwards
  segment.store(plug - 2 * p + 2, 64, 2);
}

std::vector<Address> walk(const Opened &opened) {
  std::vector<Address> out;
  ObjectCursor cursor(opened.heap, opened.runtime);
  while (const Object *object = cursor.next())
    out.push_back(object->address);
  return out;
}

std::optional<G> planned(const Opened &opened) {
  TypeTable types(opened.runtime.types(), opened.heap);
  return planned_generation(opened.heap, tally_heap(opened.heap, opened.runtime, 2, {}).walk.gaps,
                            opened.runtime.memory(), types);
}

// Survivors, a dead stretch of two objects and whatever `last` makes, survivors; returns these.
struct Stretch {
  std::vector<Address> before, dead, after;
};
template <class Last> Stretch stretch(SegmentWriter &segment, Address node, Address wide, Last last) {
  Stretch out;
  for (int i = 0; i < 4; ++i)
    out.before.push_back(segment.object(node));
  out.dead = {segment.object(node), segment.object(node)};
  out.dead.push_back(last());
  out.after.push_back(segment.object(wide)); // no object begins where an overwritten length leads
  for (int i = 0; i < 3; ++i)
    out.after.push_back(segment.object(node));
  return out;
}

TEST(PlanTraces, NoObjectIsLostBehindAnOverwrittenLength) {
  for (Format format : all_formats)
    for (auto [is_free, collects] : {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
      if (format.byte_order == ByteOrder::big && format.pointer_size == 8 && !collects)
        continue; // there it becomes 0: the array is too short, and nothing lost
      SCOPED_TRACE(name_of(format) + (is_free ? " Free" : " array"));
      HeapBuilder heap({.format = format});
      RandomTypes types(heap);
      const u64 p = heap.p;
      Address node = heap.type("Node", 2), wide = heap.type("Wide", 40);
      SegmentWriter &segment = heap.segment(G::gen1);
      // Five words long: the first that is overwritten is its length.
      Stretch made = stretch(segment, node, wide,
                             [&] { return is_free ? segment.free(5 * p) : segment.object(types.bytes, 2 * p); });
      const Address plug = made.after[0];
      ASSERT_EQ(made.dead[2] + 5 * p, plug);
      write_plug(segment, p, plug, plug - made.dead[0], 16 * p);
      std::vector<Address> expected = made.before;
      expected.insert(expected.end(), made.dead.begin(), made.dead.begin() + 2);
      expected.insert(expected.end(), made.after.begin(), made.after.end());
      heap.structures_invalid = collects;
      Opened opened(heap);
      if (!collects) { // of a collection alone it can be known that a length is none
        EXPECT_NE(walk(opened), expected);
        continue;
      }
      EXPECT_EQ(walk(opened), expected);
      EXPECT_EQ(planned(opened), G::gen1);
    }
}

TEST(PlanTraces, AnArrayThatEndsWhereAnObjectBeginsIsOne) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    RandomTypes types(heap);
    const u64 p = heap.p;
    Address node = heap.type("Node", 2), wide = heap.type("Wide", 40);
    heap.structures_invalid = 1;
    SegmentWriter &segment = heap.segment(G::gen0);
    // What was not cleared in it looks like a plug's words and the plug.
    Stretch made = stretch(segment, node, wide, [&] { return segment.object(types.bytes, 16 * p); });
    write_plug(segment, p, made.dead[2] + 5 * p, 16 * p, 0);
    segment.store(made.dead[2] + p, 16 * p, 4); // its length all the same
    segment.store(made.dead[2] + 4 * p, 0, p);
    segment.store(made.dead[2] + 5 * p, node, p);
    std::vector<Address> expected;
    for (const WrittenObject &object : heap.objects)
      expected.push_back(object.address);
    EXPECT_EQ(walk(Opened(heap)), expected);
  }
}

// The length that was written may by chance lead to an object.
TEST(PlanTraces, ALengthThatEndsAtAnObjectIsOverwrittenAllTheSame) {
  for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    HeapBuilder heap({.format = {8, order}});
    RandomTypes types(heap);
    Address node = heap.type("Node", 1);
    heap.structures_invalid = 1;
    SegmentWriter &segment = heap.segment(G::gen1);
    std::vector<Address> expected;
    for (int i = 0; i < 10; ++i)
      expected.push_back(segment.object(node));
    const Address array = segment.object(types.bytes, 16); // 40 bytes long
    for (int i = 0; i < 50; ++i)
      expected.push_back(segment.object(node));
    // Three objects of 24 bytes are dead before it: its length would be 112, and its end that of the fourth behind it.
    write_plug(segment, 8, array + 40, 40 + 3 * 24, 16);
    EXPECT_EQ(walk(Opened(heap)), expected);
  }
}

TEST(PlanTraces, TheOldestGenerationCounts) {
  for (Format format : all_formats)
    for (G oldest : {G::gen0, G::gen1, G::gen2}) {
      SCOPED_TRACE(name_of(format) + " " + name_of(oldest));
      HeapBuilder heap({.format = format});
      const u64 p = heap.p;
      Address node = heap.type("Node", 2), wide = heap.type("Wide", 40), small = heap.type("Small", 1);
      heap.structures_invalid = 1;
      SegmentWriter *last = nullptr;
      Address plug = 0;
      for (G generation : {G::gen0, G::gen1, G::gen2}) {
        SegmentWriter &segment = heap.segment(generation);
        Stretch made = stretch(segment, node, wide, [&] { return segment.object(small); });
        if (generation > oldest)
          segment.store(made.dead[2], 0x1230 * p, p); // damaged, but not planned
        else
          write_plug(segment, p, plug = made.after[0], made.after[0] - made.dead[0], 0 - 16 * p);
        last = generation == oldest ? &segment : last;
        plug = generation == oldest ? made.after[0] : plug;
      }
      EXPECT_EQ(planned(Opened(heap)), oldest);
      // Where no object begins as far away as the words say, they are none.
      last->store(plug - 4 * p, 4 * p, p);
      EXPECT_EQ(planned(Opened(heap)), oldest == G::gen0   ? std::nullopt
                                       : oldest == G::gen1 ? std::optional(G::gen0)
                                                           : std::optional(G::gen1));
    }
}

} // namespace
} // namespace dnheap::test
