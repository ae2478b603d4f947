// Heap: which stretches are to be walked: segments, with allocation contexts and missing memory cut out.
#include "heap/tally.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;
using Stretch = std::pair<Address, Address>;

std::vector<Stretch> ranges_of(const Heap &heap) {
  std::vector<Stretch> out;
  for (const ObjectRange &range : heap.ranges())
    out.emplace_back(range.address, range.end());
  return out;
}

bool has_problem(const Heap &heap, std::string_view part) {
  for (const std::string &problem : heap.notes().texts())
    if (problem.find(part) != std::string::npos)
      return true;
  return false;
}

TEST(Heap, ContextsAreCutOut) {
  for (const HeapShape &shape : all_shapes()) {
    if (!shape.regions)
      continue;
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    heap.threads.resize(4);
    for (u64 i = 0; i < heap.threads.size(); ++i)
      heap.threads[i].os_id = 4001 + i;
    const u64 p = heap.p;
    SegmentWriter &young = heap.segment(G::gen0);
    heap.threads[0].context = young.context(8 * p); // at the very start
    Address a = young.object(heap.object_type);
    heap.threads[1].context = young.context(0); // nothing left but the room behind it
    Address b = young.object(heap.object_type);
    heap.global_context = young.context(2 * p);
    Address c = young.object(heap.object_type);
    heap.generation_context(0, 0) = young.context(4 * p);
    Address d = young.object(heap.object_type);
    heap.threads[3].context = young.context(p); // at the very end
    Opened opened(heap);
    EXPECT_EQ(ranges_of(opened.heap),
              (std::vector<Stretch>{{a, a + 3 * p}, {b, b + 3 * p}, {c, c + 3 * p}, {d, d + 3 * p}}));
    EXPECT_EQ(opened.heap.context_count(), 5u);
    EXPECT_EQ(opened.heap.context_bytes(), 15 * p + 5 * 3 * p);
    EXPECT_EQ(opened.heap.context_bytes(0), opened.heap.context_bytes());
    EXPECT_EQ(opened.heap.segment_bytes(), young.end() - young.start);
    EXPECT_TRUE(opened.heap.notes().empty()) << opened.heap.notes().texts()[0];
  }
}

// While it plans, the GC keeps in its generations' contexts where objects are to go. Objects lie there all the same.
TEST(Heap, ContextsOfGenerationsAreNoneWhileTheGCPlans) {
  for (Format format : all_formats)
    for (bool server : {false, true})
      for (bool planning : {false, true})
        for (u64 first : {0, 20}) // the object where it is: at the region's start, or amid others
          for (u64 words : {0, 12}) {
            if (words && !planning) // one that counts
              continue;
            SCOPED_TRACE(name_of(format) + (server ? " server" : "") + (planning ? " planning" : "") + " at object " +
                         std::to_string(first) + ", words " + std::to_string(words));
            HeapBuilder heap({.format = format, .server = server, .heaps = server ? 2u : 1u});
            heap.structures_invalid = planning;
            const u32 last = server ? 1 : 0;
            std::vector<Stretch> expected;
            for (G generation : {G::gen0, G::gen1, G::gen2}) {
              SegmentWriter &region = heap.segment(generation, last);
              std::vector<Address> objects;
              for (int i = 0; i < 40; ++i)
                objects.push_back(region.object(heap.object_type));
              Address at = objects[first];
              heap.generation_context(last, static_cast<u32>(expected.size())) = {at, at + words * heap.p};
              expected.emplace_back(region.start, region.end());
            }
            Opened opened(heap);
            std::vector<Stretch> ranges = ranges_of(opened.heap);
            std::sort(expected.begin(), expected.end());
            EXPECT_EQ(ranges, expected);
            EXPECT_EQ(opened.heap.context_count(), 0u);
            EXPECT_TRUE(opened.heap.notes().empty()) << opened.heap.notes().texts()[0];
            HeapTally tally = tally_heap(opened.heap, opened.runtime, 1, {});
            EXPECT_EQ(tally.walk.objects, 3u * 40);
            EXPECT_TRUE(tally.walk.gaps.empty());
          }
}

// Of a thread's context that is used up, the room behind it is left: nothing but zeros may lie there.
TEST(Heap, UsedUpContextsOfThreadsKeepTheirRoom) {
  for (Format format : all_formats)
    for (bool at_start : {false, true}) {
      SCOPED_TRACE(name_of(format) + (at_start ? " at the start" : ""));
      HeapBuilder heap({.format = format});
      SegmentWriter &young = heap.segment(G::gen0);
      for (int i = 0; i < (at_start ? 0 : 10); ++i)
        young.object(heap.object_type);
      heap.threads[0].context = young.context(0);
      for (int i = 0; i < 10; ++i)
        young.object(heap.object_type);
      Opened opened(heap);
      EXPECT_EQ(opened.heap.context_count(), 1u);
      EXPECT_EQ(opened.heap.context_bytes(), 3 * heap.p);
      HeapTally tally = tally_heap(opened.heap, opened.runtime, 1, {});
      EXPECT_EQ(tally.walk.objects, at_start ? 10u : 20u);
      EXPECT_TRUE(tally.walk.gaps.empty());
    }
}

// Objects begin at multiples of a pointer's size. What says otherwise is damaged, and leads no one astray.
TEST(Heap, MisalignedSegments) {
  for (Format format : all_formats)
    for (u64 off = 1; off < format.pointer_size; ++off) {
      SCOPED_TRACE(name_of(format) + " off by " + std::to_string(off));
      HeapBuilder heap({.format = format});
      SegmentWriter &good = heap.segment(G::gen2), &bad = heap.segment(G::gen2), &ends_badly = heap.segment(G::loh);
      for (SegmentWriter *segment : {&good, &bad, &ends_badly})
        for (int i = 0; i < 50; ++i)
          segment->object(heap.object_type);
      bad.start += off;
      ends_badly.allocated = ends_badly.end() - off;
      Opened opened(heap);
      EXPECT_EQ(opened.heap.segments().size(), 2u);
      EXPECT_TRUE(has_problem(opened.heap, "has unsound bounds and was left out"));
      HeapBits starts(std::make_shared<HeapPlaces>(opened.heap, format));
      HeapTally tally = tally_heap(opened.heap, opened.runtime, 2, {}, {}, &starts);
      EXPECT_EQ(tally.walk.objects, 99u);
      ASSERT_EQ(tally.walk.gaps.count(), 1u);
      EXPECT_EQ(tally.walk.gaps.listed()[0].end, *ends_badly.allocated);
      EXPECT_TRUE(starts.test(good.start));
      EXPECT_FALSE(starts.test(bad.start));
    }
}

TEST(Heap, MisalignedContextsAreNone) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    SegmentWriter &young = heap.segment(G::gen0);
    Address a = young.object(heap.object_type);
    for (int i = 0; i < 20; ++i)
      young.object(heap.object_type);
    heap.generation_context(0, 0) = {a + 1, a + 1 + 6 * heap.p};
    Opened opened(heap);
    EXPECT_TRUE(has_problem(opened.heap, "does not fit its segment and was not skipped"));
    EXPECT_EQ(ranges_of(opened.heap), (std::vector<Stretch>{{a, young.end()}}));
  }
}

// A dump's pieces may begin anywhere, also in the middle of a word, or between two places where a large object can
// begin.
TEST(Heap, PiecesThatBeginAnywhere) {
  for (Format format : all_formats)
    for (G generation : {G::gen2, G::loh})
      for (u64 off = 1; off <= 8; ++off) {
        SCOPED_TRACE(name_of(format) + " off by " + std::to_string(off));
        HeapBuilder heap({.format = format});
        SegmentWriter &segment = heap.segment(generation);
        std::vector<Address> objects;
        for (int i = 0; i < 50; ++i)
          objects.push_back(segment.object(heap.object_type));
        heap.hole(objects[20] + 3, objects[20] + 3 + off); // not in the dump
        heap.hole(objects[30] - off, objects[30] + 1);
        Opened opened(heap);
        for (const ObjectRange &range : opened.heap.ranges())
          EXPECT_EQ((range.address - segment.start) % range.alignment, 0u);
        HeapBits starts(std::make_shared<HeapPlaces>(opened.heap, format));
        HeapTally tally = tally_heap(opened.heap, opened.runtime, 1, {}, {}, &starts);
        EXPECT_TRUE(starts.test(objects[19]) && starts.test(objects[21]) && starts.test(objects[31]));
        u64 gaps = 0;
        for (const auto &list : {opened.heap.gaps(), tally.walk.gaps.listed()})
          for (const Gap &gap : list)
            gaps += gap.end - gap.start;
        EXPECT_EQ(tally.walk.bytes + gaps, opened.heap.segment_bytes());
      }
}

// Pieces of less than a word hold no object.
TEST(Heap, PiecesTooShortForAnything) {
  HeapBuilder heap({});
  SegmentWriter &old = heap.segment(G::gen2);
  std::vector<Address> objects;
  for (int i = 0; i < 50; ++i)
    objects.push_back(old.object(heap.object_type));
  for (u64 at = objects[10] + 1; at < objects[20]; at += 5)
    heap.hole(at, at + 3); // two bytes stay, again and again
  Opened opened(heap);
  HeapTally tally = tally_heap(opened.heap, opened.runtime, 1, {});
  u64 gaps = 0;
  for (const auto &list : {opened.heap.gaps(), tally.walk.gaps.listed()})
    for (const Gap &gap : list)
      gaps += gap.end - gap.start;
  EXPECT_EQ(tally.walk.bytes + gaps, opened.heap.segment_bytes());
  EXPECT_GE(tally.walk.objects, 39u);
}

TEST(Heap, ContextUpToTheEnd) {
  HeapBuilder heap({});
  SegmentWriter &young = heap.segment(G::gen0);
  Address a = young.object(heap.object_type);
  Address rest = young.zeros(64);
  heap.threads[0].context = {rest, rest + 64}; // no room behind it: what is beyond the end is not counted
  Opened opened(heap);
  EXPECT_EQ(ranges_of(opened.heap), (std::vector<Stretch>{{a, rest}}));
  EXPECT_EQ(opened.heap.context_bytes(), 64u);
}

TEST(Heap, TheSameContextTwiceIsOne) {
  HeapBuilder heap({});
  SegmentWriter &young = heap.segment(G::gen0);
  heap.threads[0].context = heap.generation_context(0, 0) = young.context(64);
  young.object(heap.object_type);
  Opened opened(heap);
  EXPECT_EQ(opened.heap.context_count(), 1u);
  EXPECT_TRUE(opened.heap.notes().empty());
}

TEST(Heap, ContextsThatDoNotFit) {
  HeapBuilder heap({});
  SegmentWriter &young = heap.segment(G::gen0);
  for (int i = 0; i < 10; ++i)
    young.object(heap.object_type);
  AllocationContext context = young.context(240);
  young.object(heap.object_type);
  heap.threads[0].context = context;
  heap.global_context = {context.pointer + 24, context.limit}; // inside the other one
  heap.generation_context(0, 0) = {young.end() - 24, young.end() + 8};
  heap.generation_context(0, 1) = {young.start + 48, young.start + 24};
  heap.generation_context(0, 2) = {0x123450, 0x123460};
  Opened opened(heap);
  EXPECT_EQ(opened.heap.context_count(), 1u);
  EXPECT_EQ(opened.heap.context_bytes(), 240u + 24);
  EXPECT_EQ(opened.heap.notes().size(), 4u);
  EXPECT_TRUE(has_problem(opened.heap, "does not fit its segment"));
  EXPECT_TRUE(has_problem(opened.heap, "0x123450 to 0x123460 lies in no segment"));
}

TEST(Heap, SegmentsInOrder) {
  for (bool server : {false, true})
    for (bool regions : {true, false}) {
      HeapShape shape{.server = server, .heaps = server ? 2u : 1u, .regions = regions};
      SCOPED_TRACE(name_of(shape));
      HeapBuilder heap(shape);
      std::vector<std::pair<u32, G>> expected;
      for (u32 h = 0; h < shape.heaps; ++h) {
        for (G g : {G::poh, G::loh, G::gen2, G::frozen})
          heap.segment(g, h).object(heap.object_type);
        if (regions)
          for (G g : {G::gen0, G::gen1, G::gen0})
            heap.segment(g, h).object(heap.object_type);
        else
          heap.ephemeral(h).object(heap.object_type);
        for (G g : {G::frozen, G::gen2})
          expected.emplace_back(h, g);
        for (G g : regions ? std::vector{G::gen1, G::gen0, G::gen0} : std::vector{G::gen2, G::gen1, G::gen0})
          expected.emplace_back(h, g);
        for (G g : {G::loh, G::poh})
          expected.emplace_back(h, g);
      }
      Opened opened(heap);
      std::vector<std::pair<u32, G>> found;
      for (const HeapSegment &s : opened.heap.segments())
        found.emplace_back(s.heap, s.generation);
      EXPECT_EQ(found, expected);
      for (u64 i = 1; i < opened.heap.ranges().size(); ++i)
        EXPECT_GT(opened.heap.ranges()[i].address, opened.heap.ranges()[i - 1].address);
    }
}

TEST(Heap, EphemeralSegmentIsDivided) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format, .regions = false});
    SegmentWriter &young = heap.ephemeral();
    young.object(heap.object_type);
    young.begin_gen1();
    young.object(heap.object_type);
    young.object(heap.object_type);
    young.begin_gen0();
    young.object(heap.object_type);
    Opened opened(heap);
    ASSERT_EQ(opened.heap.segments().size(), 3u);
    u64 size = 3 * heap.p;
    for (auto [i, generation, start, end] :
         {std::tuple{0u, G::gen2, 0u, 1u}, {1u, G::gen1, 1u, 3u}, {2u, G::gen0, 3u, 4u}}) {
      const HeapSegment &s = opened.heap.segments()[i];
      EXPECT_EQ(s.generation, generation);
      EXPECT_EQ(s.start, young.start + start * size);
      EXPECT_EQ(s.end, young.start + end * size);
      EXPECT_EQ(s.segment, young.structure);
    }
  }
}

TEST(Heap, UnsoundSegmentsAreLeftOutAndSaid) {
  HeapBuilder heap({});
  SegmentWriter &good = heap.segment(G::gen2), &negative = heap.segment(G::gen2), &long_one = heap.segment(G::gen1),
                &overlapping = heap.segment(G::loh), &empty = heap.segment(G::poh);
  for (SegmentWriter *s : {&good, &negative, &long_one, &overlapping})
    for (int i = 0; i < 4; ++i)
      s->object(heap.object_type);
  negative.allocated = negative.start - 8;
  long_one.allocated = long_one.start + (1 << 20); // beyond what is committed
  good.allocated = good.end();
  overlapping.start = good.start + 24;
  overlapping.allocated = good.end();
  Opened opened(heap);
  ASSERT_EQ(opened.heap.segments().size(), 2u);
  EXPECT_EQ(opened.heap.segments()[0].start, good.start);
  EXPECT_EQ(opened.heap.segments()[1].start, empty.start);
  EXPECT_EQ(opened.heap.segment_bytes(), 4 * 24u);
  EXPECT_EQ(opened.heap.notes().size(), 3u);
  EXPECT_TRUE(has_problem(opened.heap, "of gen2"));
  EXPECT_TRUE(has_problem(opened.heap, "of gen1"));
  EXPECT_TRUE(has_problem(opened.heap, "of loh"));
}

TEST(Heap, ListsThatRunInACircleOrBreakOff) {
  HeapBuilder heap({});
  SegmentWriter &first = heap.segment(G::gen2), &second = heap.segment(G::gen2), &broken = heap.segment(G::loh);
  for (SegmentWriter *s : {&first, &second, &broken})
    s->object(heap.object_type);
  heap.target(); // lays out the structures
  u64 next = 6 * heap.p;
  heap.poke(second.structure + next, first.structure, 8);
  heap.poke(broken.structure + next, 0x123456000, 8);
  Opened opened(heap);
  EXPECT_EQ(opened.heap.segments().size(), 3u);
  EXPECT_TRUE(has_problem(opened.heap, "of gen2 runs in a circle"));
  EXPECT_TRUE(has_problem(opened.heap, "of loh breaks off"));
}

TEST(Heap, MissingMemory) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    SegmentWriter &old = heap.segment(G::gen2);
    for (int i = 0; i < 1000; ++i)
      old.object(heap.object_type);
    Address a = old.start + 96, b = a + 96, c = old.end() - 48;
    heap.hole(a, b);
    heap.hole(c, old.end());
    heap.cut(b + 120);
    Opened opened(heap);
    EXPECT_EQ(ranges_of(opened.heap), (std::vector<Stretch>{{old.start, a}, {b, c}}));
    ASSERT_EQ(opened.heap.gaps().size(), 2u);
    EXPECT_EQ(opened.heap.gaps()[0].start, a);
    EXPECT_EQ(opened.heap.gaps()[0].end, b);
    EXPECT_EQ(opened.heap.gaps()[1].start, c);
    EXPECT_EQ(opened.heap.gaps()[1].end, old.end());
    EXPECT_TRUE(opened.heap.ranges()[0].starts_with_object);
    EXPECT_FALSE(opened.heap.ranges()[0].bytes.empty());
    EXPECT_FALSE(opened.heap.ranges()[1].starts_with_object);
    EXPECT_TRUE(opened.heap.ranges()[1].bytes.empty()) << "in two pieces: gathered when it is walked";
  }
}

TEST(Heap, SegmentOfWhichNothingIsThere) {
  HeapBuilder heap({});
  SegmentWriter &there = heap.segment(G::gen2), &gone = heap.segment(G::gen2);
  for (SegmentWriter *s : {&there, &gone})
    s->object(heap.object_type);
  heap.hole(gone.block.address(), gone.end());
  Opened opened(heap);
  EXPECT_EQ(ranges_of(opened.heap), (std::vector<Stretch>{{there.start, there.end()}}));
  ASSERT_EQ(opened.heap.gaps().size(), 1u);
  EXPECT_EQ(opened.heap.gaps()[0].start, gone.start);
}

TEST(Heap, ContextBehindMissingMemoryShowsWhereObjectsBegin) {
  HeapBuilder heap({});
  SegmentWriter &young = heap.segment(G::gen0);
  for (int i = 0; i < 10; ++i)
    young.object(heap.object_type);
  heap.threads[0].context = young.context(80);
  Address behind = young.object(heap.object_type);
  heap.hole(young.start + 24, young.start + 48);
  Opened opened(heap);
  ASSERT_EQ(opened.heap.ranges().size(), 3u);
  EXPECT_FALSE(opened.heap.ranges()[1].starts_with_object);
  EXPECT_EQ(opened.heap.ranges()[2].address, behind);
  EXPECT_TRUE(opened.heap.ranges()[2].starts_with_object);
}

// A gap says why, as far as the target knows; overlaps in what it says change no sum.
TEST(Heap, GapsNameTheirReason) {
  HeapBuilder heap({});
  SegmentWriter &young = heap.segment(G::gen0);
  for (int i = 0; i < 100; ++i)
    young.object(heap.object_type);
  Address start = young.start;
  heap.hole(start + 240, start + 1200);
  std::unique_ptr<Target> target = heap.target();
  target->absent = {{0, start, "before it"},
                    {start + 200, start + 480, "a"},
                    {start + 300, start + 400, "inside a"},
                    {start + 300, start + 720, "b"},
                    {start + 960, ~u64{0}, "c"}};
  CoreClr runtime = open_core_clr(*target, target->modules.at(0), tables_for_all_formats());
  std::vector<std::tuple<u64, u64, std::string>> gaps;
  Heap of(runtime);
  for (const Gap &gap : of.gaps())
    gaps.emplace_back(gap.start - start, gap.end - start, gap.reason);
  EXPECT_EQ(gaps, (std::vector<std::tuple<u64, u64, std::string>>{
                      {240, 480, "a"}, {480, 720, "b"}, {720, 960, "not in this dump"}, {960, 1200, "c"}}));
}

TEST(Heap, NoSegmentsIsAProblem) {
  HeapBuilder heap({});
  Opened opened(heap);
  ASSERT_EQ(opened.heap.notes().size(), 1u);
  EXPECT_NE(opened.heap.notes().texts()[0].find("lists of segments are empty"), std::string::npos);
}

TEST(Heap, FreeObjectsNeedAMethodTable) {
  for (Format format : all_formats)
    for (Net net : {Net::net9, Net::net11}) {
      HeapBuilder heap({.format = format, .net = net});
      SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
      young.object(heap.object_type);
      u64 all_ones = format.pointer_size == 8 ? ~u64{0} : 0xffffffff;
      for (u64 value : {u64{0}, u64{1}, all_ones, all_ones & ~u64{7}, heap.free_type + 1, young.start}) {
        SCOPED_TRACE(name_of(format) + " " + std::to_string(value));
        heap.target();
        heap.poke(heap.variables.at("Free"), value, heap.p);
        try {
          Opened opened(heap);
          HeapTally tally = tally_heap(opened.heap, opened.runtime, 1, {});
          EXPECT_LE(tally.segments[0].free.count, tally.walk.objects);
        } catch (const Error &e) {
          EXPECT_GT(std::string_view(e.what()).size(), 20u);
        }
      }
    }
}

// A list of threads whose contexts lie nowhere is a problem, but not thousands of them.
TEST(Heap, ProblemsWithoutEnd) {
  HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
  for (u64 i = 0; i < 3000; ++i)
    heap.threads.push_back({.os_id = 5000 + i, .context = {0x1230000 + i * 64, 0x1230020 + i * 64}});
  Opened opened(heap);
  ASSERT_EQ(opened.heap.notes().size(), 1001u);
  EXPECT_EQ(opened.heap.notes().back().text, "and 2,000 more problems of these kinds");
}

} // namespace
} // namespace dnheap::test
