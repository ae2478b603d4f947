// The walk against what was written: on random heaps in four formats, by any number of threads, cut into chunks of any
// size, with arrays made to look like objects, and damaged.
#include "heap/object_cursor.h"
#include "support/opened.h"
#include "support/random_heap.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// Keeps every object.
class Collector {
public:
  Collector(const TypeSystem &types, const Heap &heap) : types_(types, heap) {}
  TypeTable &types() { return types_; }
  void begin_chunk(const ObjectRange &range) { generation_ = range.generation; }
  void operator()(const Object &o) {
    objects.push_back({o.address, types_.method_table(o.type), o.size, o.aligned_size, generation_});
  }
  void end_chunk(const ChunkResult &) {}
  std::vector<WrittenObject> objects;

private:
  TypeTable types_;
  G generation_ = G::gen0;
};

struct Walked {
  std::vector<WrittenObject> objects; // by address
  WalkResult result;
  u64 visitors_made = 0; // more than threads: a guess was wrong
};

bool by_address(const WrittenObject &a, const WrittenObject &b) { return a.address < b.address; }

void sort_by_address(std::vector<WrittenObject> &objects) { std::sort(objects.begin(), objects.end(), by_address); }

Walked walk(const Opened &opened, unsigned threads, u64 chunk_size, const Watch &watch = {}) {
  Walked out;
  std::vector<std::unique_ptr<Collector>> collectors;
  HeapWalk heap_walk(opened.heap, opened.runtime.memory(), threads, watch, chunk_size);
  out.result = heap_walk.run(collectors, [&] {
    ++out.visitors_made;
    return std::make_unique<Collector>(opened.runtime.types(), opened.heap);
  });
  for (const auto &collector : collectors)
    out.objects.insert(out.objects.end(), collector->objects.begin(), collector->objects.end());
  sort_by_address(out.objects);
  return out;
}

std::vector<WrittenObject> by_cursor(const Opened &opened) {
  std::vector<WrittenObject> out;
  ObjectCursor cursor(opened.heap, opened.runtime);
  while (const Object *o = cursor.next())
    out.push_back({o->address, cursor.method_table(), o->size, o->aligned_size, cursor.generation()});
  EXPECT_FALSE(cursor.next()) << "behind the end, too, there is nothing";
  return out;
}

void expect_same(const std::vector<WrittenObject> &found, const std::vector<WrittenObject> &expected,
                 const char *what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  auto [a, b] = std::mismatch(found.begin(), found.end(), expected.begin());
  EXPECT_TRUE(a == found.end()) << what << ": at " << std::hex << a->address << " in place of " << b->address;
}

// Objects, allocation contexts and gaps cover each segment, without holes and without overlaps.
void expect_sum_closes(const Opened &opened, const Walked &walked) {
  std::vector<std::pair<Address, Address>> stretches;
  u64 sum = opened.heap.context_bytes(), bytes = 0;
  for (const WrittenObject &o : walked.objects) {
    stretches.emplace_back(o.address, o.address + o.aligned_size);
    bytes += o.aligned_size;
  }
  for (const auto &gaps : {opened.heap.gaps(), walked.result.gaps.listed()})
    for (const Gap &gap : gaps) {
      EXPECT_LT(gap.start, gap.end);
      EXPECT_FALSE(gap.reason.empty());
      stretches.emplace_back(gap.start, gap.end);
    }
  std::sort(stretches.begin(), stretches.end());
  for (u64 i = 0; i < stretches.size(); ++i) {
    sum += stretches[i].second - stretches[i].first;
    if (i) {
      ASSERT_GE(stretches[i].first, stretches[i - 1].second) << "overlap";
    }
  }
  EXPECT_EQ(sum, opened.heap.segment_bytes());
  EXPECT_EQ(walked.result.objects, walked.objects.size());
  EXPECT_EQ(walked.result.bytes, bytes);
}

void expect_exact(HeapBuilder &heap, std::initializer_list<u64> chunk_sizes) {
  Opened opened(heap);
  std::vector<WrittenObject> expected = heap.objects;
  sort_by_address(expected);
  EXPECT_TRUE(opened.heap.notes().empty());
  for (u64 chunk_size : chunk_sizes)
    for (unsigned threads : {1u, 2u, 3u, 4u}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, chunks of " + std::to_string(chunk_size));
      Walked walked = walk(opened, threads, chunk_size);
      expect_same(walked.objects, expected, "walk");
      expect_sum_closes(opened, walked);
      EXPECT_EQ(walked.result.bad_objects, 0u);
      EXPECT_TRUE(walked.result.gaps.empty());
    }
  expect_same(by_cursor(opened), expected, "cursor");
}

TEST(Walk, FindsWhatWasWritten) {
  std::mt19937_64 random(1);
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    add_random_heap(heap, 20000, random);
    expect_exact(heap, {4096});
  }
}

TEST(Walk, ChunksOfEverySize) {
  std::mt19937_64 random(2);
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    add_random_heap(heap, 300000, random);
    expect_exact(heap, {512, 4096, 70000});
  }
}

TEST(Walk, LargeHeap) {
  std::mt19937_64 random(3);
  HeapBuilder heap({});
  add_random_heap(heap, 20 << 20, random);
  Opened opened(heap);
  std::vector<WrittenObject> expected = heap.objects;
  sort_by_address(expected);
  for (unsigned threads : {1u, 4u})
    expect_same(walk(opened, threads, 8 << 20).objects, expected, "walk");
}

TEST(Walk, PiecesThatTouch) {
  std::mt19937_64 random(4);
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    add_random_heap(heap, 50000, random);
    for (const SegmentWriter &s : heap.segments)
      if (random() % 3)
        for (int i = 0; i < 5; ++i)
          heap.cut(s.start + random() % (s.end() - s.start)); // through objects, words, anything
    expect_exact(heap, {4096});
  }
}

// Long arrays whose contents are nothing but chains of sound objects: every guess inside is wrong.
TEST(Walk, GuessesThatAreWrong) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    RandomTypes types(heap);
    SegmentWriter &old = heap.segment(G::gen2);
    const u64 p = heap.p;
    for (int i = 0; i < 20; ++i) {
      u64 length = 100000;
      Address at = old.object(types.bytes, length);
      for (u64 offset = 3 * p + (i % 2 ? p : 0); offset + 3 * p <= length; offset += 3 * p)
        old.store(at + offset, types.fixed[0], p);
      for (int k = 0; k < i; ++k)
        old.object(types.fixed[1]);
    }
    std::vector<WrittenObject> expected = heap.objects;
    Opened opened(heap);
    Walked walked = walk(opened, 4, 70000);
    expect_same(walked.objects, expected, "walk");
    expect_sum_closes(opened, walked);
    EXPECT_EQ(walked.visitors_made, 8u) << "the trap must have been stepped into once";
    EXPECT_EQ(walk(opened, 1, 70000).visitors_made, 1u);
  }
}

TEST(Walk, MarkBitsAreNoDamage) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    SegmentWriter &old = heap.segment(G::gen2);
    Address node = heap.type("Node", 1);
    for (u64 bits = 0; bits < heap.p; ++bits)
      old.store(old.object(node), node | bits, heap.p);
    expect_exact(heap, {4096});
  }
}

// Memory that was never used is no object, although a zero word looks like nothing bad.
TEST(Walk, ZerosAreNoObjects) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    SegmentWriter &old = heap.segment(G::gen2);
    Address node = heap.type("Node", 1);
    old.object(node);
    Address zeros = old.zeros(64 * heap.p);
    for (int i = 0; i < 40; ++i)
      old.object(node);
    Opened opened(heap);
    Walked walked = walk(opened, 1, 8 << 20);
    expect_sum_closes(opened, walked);
    ASSERT_EQ(walked.result.gaps.count(), 1u);
    EXPECT_EQ(walked.result.gaps.listed()[0].start, zeros);
    EXPECT_EQ(walked.result.gaps.listed()[0].end, zeros + 64 * heap.p) << "the first object behind is none less";
    EXPECT_EQ(walked.result.bad_objects, 1u);
    expect_same(walked.objects, heap.objects, "walk");
    expect_same(by_cursor(opened), walked.objects, "cursor");
  }
}

// What an allocation leaves while it is not done: memory without a MethodTable, cleared or as it was before.
void unmake(HeapBuilder &heap, SegmentWriter &segment, Address at, u64 size, std::mt19937_64 &random) {
  const u64 kind = random() % 3;
  for (u64 offset = 0; offset + heap.p < size; offset += heap.p) // the next one's header is its own
    segment.store(at + offset, kind == 0 ? 0 : kind == 1 ? random() : segment.start + random() % 4096, heap.p);
}

TEST(Walk, HalfMadeObjectsCostNoOther) {
  std::mt19937_64 random(15);
  for (Format format : all_formats)
    for (int round = 0; round < 30; ++round) {
      SCOPED_TRACE(name_of(format) + " round " + std::to_string(round));
      HeapBuilder heap({.format = format});
      RandomTypes types(heap);
      std::vector<WrittenObject> expected;
      std::vector<std::pair<Address, Address>> gaps;
      for (G generation : {G::gen0, G::gen2, G::loh, G::poh}) {
        SegmentWriter &segment = heap.segment(generation);
        // Seldom many in a row: what is between two half-made ones are few.
        const u64 row = 1 + random() % 40;
        for (int i = 0; i < 200; ++i) {
          Address at = random() % 3 ? segment.object(types.fixed[random() % types.fixed.size()])
                                    : segment.object(types.bytes, random() % (generation == G::loh ? 20000 : 300));
          const WrittenObject object = heap.objects.back();
          if (random() % row) {
            expected.push_back(object);
            continue;
          }
          unmake(heap, segment, at, object.aligned_size, random);
          if (!gaps.empty() && gaps.back().second == at)
            gaps.back().second += object.aligned_size;
          else
            gaps.emplace_back(at, at + object.aligned_size);
        }
      }
      sort_by_address(expected);
      std::sort(gaps.begin(), gaps.end());
      Opened opened(heap);
      for (unsigned threads : {1u, 4u})
        for (u64 chunk_size : {700, 8 << 20}) {
          Walked walked = walk(opened, threads, chunk_size);
          expect_same(walked.objects, expected, "walk");
          expect_sum_closes(opened, walked);
          ASSERT_EQ(walked.result.gaps.count(), gaps.size());
          EXPECT_EQ(walked.result.bad_objects, gaps.size());
          for (u64 i = 0; i < gaps.size(); ++i)
            EXPECT_EQ(std::pair(walked.result.gaps.listed()[i].start, walked.result.gaps.listed()[i].end), gaps[i]);
        }
      expect_same(by_cursor(opened), expected, "cursor");
    }
}

// What find_object_start is to find, word by word, without the walk's loop and its table of types.
std::optional<u64> plain_start(const Opened &opened, Bytes bytes, u64 from, u64 until, u64 limit, u64 p) {
  const Format format = opened.runtime.memory().format();
  while (from % p)
    ++from;
  for (u64 at = from; at < until && at + 3 * p <= bytes.size(); at += p) {
    Address method_table = load_pointer(bytes.data() + at, format) & ~(p - 1);
    if (!method_table || opened.heap.holds(method_table))
      continue;
    std::optional<ObjectLayout> layout = opened.runtime.types().object_layout(method_table);
    if (!layout)
      continue;
    u64 size = layout->base_size + u64{load<u32>(bytes.data() + at + p, format.byte_order)} * layout->component_size;
    if (align_up(std::max(size, 3 * p), p) > limit - at)
      continue;
    auto is_zero = [&](u64 offset) {
      return std::all_of(&bytes[offset], &bytes[offset] + 4, [](std::byte b) { return b == std::byte{}; });
    };
    const bool is_free = method_table == opened.runtime.types().free_object_method_table();
    if (at >= p && !is_zero(at - p) && !(p == 8 && is_free)) // what was there before it may be left in front of Free
      continue;
    if (p == 8 && layout->component_size && layout->base_size >= 24 && !is_zero(at + 12))
      continue;
    return at;
  }
  return std::nullopt;
}

TEST(Walk, WhereItGoesOnIsTheFirstPlaceThatLooksLikeAnObject) {
  std::mt19937_64 random(16);
  for (Format format : all_formats)
    for (int round = 0; round < 20; ++round) {
      SCOPED_TRACE(name_of(format) + " round " + std::to_string(round));
      HeapBuilder heap({.format = format});
      RandomTypes types(heap);
      SegmentWriter &old = heap.segment(G::gen2);
      const u64 words = 3000, p = heap.p, sparse = 1 + random() % 20;
      const std::vector<Address> all = {types.fixed[0],   types.fixed.back(), types.bytes,
                                        types.references, heap.string_type,   heap.free_type};
      Address at = old.zeros(words * p);
      for (u64 i = 0; i < words; ++i)
        if (random() % 2)
          old.store(at + i * p, random() % sparse ? random() >> random() % 64 : all[random() % all.size()], p);
      Opened opened(heap);
      TypeTable table(opened.runtime.types(), opened.heap);
      Bytes bytes = opened.heap.ranges()[0].bytes;
      u64 found = 0;
      for (u64 from = 0; from < bytes.size(); from += 1 + random() % 200) {
        u64 until = from + random() % 4096, limit = bytes.size() + random() % 2 * 5000;
        std::optional<u64> start = find_object_start(bytes, from, until, limit, p, table, format);
        ASSERT_EQ(start, plain_start(opened, bytes, from, std::min<u64>(until, bytes.size()), limit, p)) << from;
        found += start.has_value();
      }
      EXPECT_GT(found, 0u);
    }
}

// Where the first known byte lies in the middle of an object, the next one is the first.
TEST(Walk, BehindMissingMemoryNoObjectIsLost) {
  std::mt19937_64 random(17);
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    RandomTypes types(heap);
    SegmentWriter &old = heap.segment(G::gen2);
    for (int i = 0; i < 3000; ++i)
      random() % 2 ? old.object(types.fixed[random() % types.fixed.size()]) : old.object(types.bytes, random() % 90);
    std::vector<std::pair<Address, Address>> holes;
    for (Address at = align_up(old.start + 5000, 8); at + 500 < old.end(); at += 5000 + random() % 5000 / 8 * 8)
      holes.emplace_back(at, at + 8 + random() % 400 / 8 * 8);
    for (auto [start, end] : holes)
      heap.hole(start, end);
    std::vector<WrittenObject> expected = heap.objects;
    std::erase_if(expected, [&](const WrittenObject &o) {
      return std::any_of(holes.begin(), holes.end(), [&](const auto &hole) {
        return o.address < hole.second && hole.first < o.address + o.aligned_size;
      });
    });
    Opened opened(heap);
    expect_same(walk(opened, 1, 8 << 20).objects, expected, "walk");
    expect_same(by_cursor(opened), expected, "cursor");
  }
}

// Every other word is no object: of the gaps that are more than a list may hold their number, bytes and stretch remain.
TEST(Walk, MillionsOfGapsTakeNoMoreMemory) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    RandomTypes types(heap);
    const u64 p = heap.p, gaps = GapList::most + 5000;
    SegmentWriter &old = heap.segment(G::gen2), &young = heap.segment(G::gen0);
    std::vector<Gap> expected;
    for (u64 i = 0; i < gaps; ++i) {
      SegmentWriter &segment = i % 3 ? old : young;
      segment.object(types.fixed[0]);
      Address at = segment.zeros(p);
      expected.push_back({at, at + p, no_sound_object});
    }
    for (SegmentWriter *segment : {&old, &young})
      segment->object(types.fixed[0]);
    std::sort(expected.begin(), expected.end(), [](const Gap &a, const Gap &b) { return a.start < b.start; });
    Opened opened(heap);
    for (unsigned threads : {1u, 4u}) {
      const WalkResult result = walk(opened, threads, 70000).result;
      EXPECT_EQ(result.bad_objects, gaps);
      EXPECT_EQ(result.gaps.count(), gaps);
      EXPECT_EQ(result.gaps.bytes(), gaps * p);
      EXPECT_EQ(result.bytes + result.gaps.bytes() + opened.heap.context_bytes(), opened.heap.segment_bytes());
      std::span<const Gap> listed = result.gaps.listed();
      ASSERT_EQ(listed.size(), GapList::most);
      for (u64 i = 0; i < listed.size(); ++i)
        ASSERT_EQ(std::pair(listed[i].start, listed[i].end), std::pair(expected[i].start, expected[i].end)) << i;
      const std::vector<Gap> stretches = result.gaps.stretches();
      ASSERT_EQ(stretches.size(), GapList::most + 1);
      EXPECT_EQ(stretches.back().start, expected[GapList::most].start);
      EXPECT_EQ(stretches.back().end, expected.back().end);
    }
  }
}

TEST(Walk, ObjectsThatReachBeyondTheEnd) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    SegmentWriter &old = heap.segment(G::gen2);
    Address first = old.object(heap.type("Node", 1)), array = old.object(heap.object_array_type, 4);
    old.store(array + heap.p, 5, 4);
    Opened opened(heap);
    Walked walked = walk(opened, 1, 8 << 20);
    expect_sum_closes(opened, walked);
    ASSERT_EQ(walked.objects.size(), 1u);
    EXPECT_EQ(walked.objects[0].address, first);
    ASSERT_EQ(walked.result.gaps.count(), 1u);
    EXPECT_EQ(walked.result.gaps.listed()[0].start, array);
    EXPECT_EQ(walked.result.gaps.listed()[0].end, old.end());
  }
}

bool overlap(const WrittenObject &a, const WrittenObject &b) {
  return a.address < b.address + b.aligned_size && b.address < a.address + a.aligned_size;
}

// Of sorted objects that do not overlap each other: those that overlap one of `others`, which are such, too.
std::vector<WrittenObject> overlapping(const std::vector<WrittenObject> &objects,
                                       const std::vector<WrittenObject> &others) {
  std::vector<WrittenObject> out;
  auto other = others.begin();
  for (const WrittenObject &object : objects) {
    while (other != others.end() && other->address + other->aligned_size <= object.address)
      ++other;
    if (other != others.end() && overlap(object, *other))
      out.push_back(object);
  }
  return out;
}

std::vector<WrittenObject> without(const std::vector<WrittenObject> &objects,
                                   const std::vector<WrittenObject> &others) {
  std::vector<WrittenObject> out;
  std::set_difference(objects.begin(), objects.end(), others.begin(), others.end(), std::back_inserter(out),
                      by_address);
  return out;
}

// Where pages are missing, all whole objects are found and no others; but in an array that looks like objects, and
// whose own beginning is missing, such are found, and the last of them may cover a true one.
TEST(Walk, MissingPages) {
  std::mt19937_64 random(5);
  u64 false_ones = 0;
  for (Format format : all_formats)
    for (int round = 0; round < 20; ++round) {
      SCOPED_TRACE(name_of(format) + " round " + std::to_string(round));
      const bool traps = round % 2;
      HeapBuilder heap({.format = format});
      add_random_heap(heap, 50000, random, traps);
      std::vector<std::pair<Address, Address>> holes;
      for (const SegmentWriter &s : heap.segments)
        if (random() % 2) {
          Address at = (s.start + random() % (s.end() - s.start)) & ~Address{4095};
          holes.emplace_back(at, at + 4096);
          heap.hole(at, at + 4096);
        }
      Opened opened(heap);
      Walked walked = walk(opened, 1, 4096);
      expect_sum_closes(opened, walked);
      expect_same(walk(opened, 4, 4096).objects, walked.objects, "four threads");
      expect_same(by_cursor(opened), walked.objects, "cursor");
      std::vector<WrittenObject> all = heap.objects, whole;
      sort_by_address(all);
      std::copy_if(all.begin(), all.end(), std::back_inserter(whole), [&](const WrittenObject &o) {
        return std::none_of(holes.begin(), holes.end(), [&](const auto &hole) {
          return o.address < hole.second && hole.first < o.address + o.aligned_size;
        });
      });
      const std::vector<WrittenObject> lost = without(whole, walked.objects), found = without(walked.objects, whole);
      if (!traps) {
        EXPECT_EQ(lost.size(), 0u);
        EXPECT_EQ(found.size(), 0u);
      }
      EXPECT_EQ(overlapping(lost, found).size(), lost.size()) << "lost, and nothing lies there";
      EXPECT_EQ(overlapping(found, without(all, walked.objects)).size(), found.size())
          << "found where nothing was lost";
      false_ones += found.size();
      for (const Gap &gap : opened.heap.gaps())
        EXPECT_EQ(gap.reason, "not in this dump");
    }
  EXPECT_GT(false_ones, 0u) << "no trap was stepped into";
}

TEST(Walk, DamageNeverBreaksTheSumNorDependsOnThreads) {
  std::mt19937_64 random(6);
  for (Format format : all_formats)
    for (int round = 0; round < 40; ++round) {
      SCOPED_TRACE(name_of(format) + " round " + std::to_string(round));
      HeapBuilder heap({.format = format});
      add_random_heap(heap, 20000, random);
      for (int hits = 1 << random() % 8; hits; --hits) {
        const SegmentWriter &s = heap.segments[random() % heap.segments.size()];
        heap.poke(s.start + random() % (s.end() - s.start), random(), random() % 4 ? 1 : 8);
      }
      Opened opened(heap);
      Walked alone = walk(opened, 1, 2048);
      expect_sum_closes(opened, alone);
      expect_same(by_cursor(opened), alone.objects, "cursor");
      for (u64 chunk_size : {512, 2048}) {
        Walked together = walk(opened, 4, chunk_size);
        expect_sum_closes(opened, together);
        expect_same(together.objects, alone.objects, "four threads");
        EXPECT_EQ(together.result.bad_objects, alone.result.bad_objects);
      }
    }
}

// What guess_object_start does, without remembering anything.
std::optional<u64> plain_guess(Bytes bytes, u64 from, u64 window, u64 alignment, TypeTable &types, Format format,
                               unsigned chain) {
  u64 last = std::min<u64>(from + window, bytes.size());
  for (u64 at = align_up(from, alignment); at < last; at += alignment) {
    u64 position = at;
    unsigned seen = 0;
    for (; seen < chain && position < bytes.size(); ++seen) {
      u64 next =
          walk_objects(bytes, 0, position, position + 1, bytes.size(), alignment, types, format, [](const Object &) {});
      if (next == position)
        break;
      position = next;
    }
    if (seen == chain)
      return position;
    if (seen > 0 && position == bytes.size())
      return at;
  }
  return std::nullopt;
}

// Garbage full of MethodTables: short chains everywhere, many of them just too short, some long enough.
void add_garbage(SegmentWriter &segment, const RandomTypes &types, u64 words, u64 p, std::mt19937_64 &random) {
  Address at = segment.zeros(words * p);
  u64 sound = 1 + random() % 40;
  for (u64 i = 0; i < words; ++i)
    segment.store(at + i * p, random() % sound ? types.fixed[random() % types.fixed.size()] : random(), p);
}

TEST(Walk, BrokenChainsAreRememberedRight) {
  std::mt19937_64 random(8);
  for (Format format : all_formats)
    for (int round = 0; round < 20; ++round) {
      SCOPED_TRACE(name_of(format) + " round " + std::to_string(round));
      HeapBuilder heap({.format = format});
      RandomTypes types(heap);
      SegmentWriter &old = heap.segment(G::gen2);
      add_garbage(old, types, 3000, heap.p, random);
      Opened opened(heap);
      TypeTable table(opened.runtime.types(), opened.heap);
      Bytes bytes = opened.heap.ranges()[0].bytes;
      for (unsigned chain : {2u, 8u, 32u, 64u})
        for (u64 from = 0; from < bytes.size(); from += 1 + random() % 3000)
          ASSERT_EQ(guess_object_start(bytes, from, 4096, heap.p, table, format, chain),
                    plain_guess(bytes, from, 4096, heap.p, table, format, chain))
              << from << " chain " << chain;
    }
}

// A region of nothing but words that lead nowhere, or a few objects far: an answer, the same with any number of
// threads.
TEST(Walk, Garbage) {
  std::mt19937_64 random(9);
  HeapBuilder heap({});
  RandomTypes types(heap);
  SegmentWriter &words = heap.segment(G::gen2), &pointers = heap.segment(G::gen2), &chains = heap.segment(G::gen2);
  Address at = words.zeros(2 << 20);
  for (u64 i = 0; i < 2 << 20; i += 8)
    words.store(at + i, random(), 8);
  at = pointers.zeros(2 << 20);
  for (u64 i = 0; i < 2 << 20; i += 8)
    pointers.store(at + i, (random() % 2 ? at : heap.native.address()) + random() % 100000 / 8 * 8, 8);
  add_garbage(chains, types, 200000, 8, random);
  Opened opened(heap);
  Walked alone = walk(opened, 1, 70000);
  expect_sum_closes(opened, alone);
  EXPECT_GT(alone.result.bad_objects, 2u);
  expect_same(walk(opened, 4, 70000).objects, alone.objects, "four threads");
  expect_same(by_cursor(opened), alone.objects, "cursor");
}

// A program may keep in an array what is, byte for byte, a MethodTable with its EEClass.
TEST(Walk, NoMethodTableLiesInTheHeap) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    RandomTypes types(heap);
    SegmentWriter &old = heap.segment(G::gen2);
    const u64 p = heap.p, size = 16 + 12 * p;
    Address array = old.object(types.bytes, 2 * size), fake = align_up(array + 3 * p, p), eeclass = fake + size;
    auto word = [&](Address mt, u64 offset) {
      return load_pointer(heap.native.bytes().data() + (mt + offset - heap.native.address()), format);
    };
    for (u64 offset = 0; offset < size; offset += p)
      old.store(fake + offset, word(types.fixed[0], offset), p);
    old.store(fake + 16 + 3 * p, eeclass, p);
    old.store(eeclass + 2 * p, fake, p);
    Address object = old.object(types.fixed[0]);
    old.object(types.fixed[1]);
    old.store(object, fake, p);
    Opened opened(heap);
    EXPECT_TRUE(opened.runtime.types().object_layout(fake));
    Walked walked = walk(opened, 1, 70000);
    EXPECT_EQ(walked.result.bad_objects, 1u);
    EXPECT_TRUE(std::none_of(walked.objects.begin(), walked.objects.end(),
                             [&](const WrittenObject &o) { return o.method_table == fake; }));
  }
}

TEST(Walk, ProgressAndCancel) {
  std::mt19937_64 random(7);
  HeapBuilder heap({});
  add_random_heap(heap, 50000, random);
  Opened opened(heap);
  Progress progress;
  std::vector<PassTime> times;
  walk(opened, 2, 8 << 20, {&progress, &times});
  EXPECT_EQ(progress.objects, heap.objects.size());
  EXPECT_EQ(progress.total, opened.heap.segment_bytes());
  EXPECT_EQ(progress.done, opened.heap.segment_bytes() - opened.heap.context_bytes());
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].name, "walk");
  progress.cancel = true;
  EXPECT_THROW(walk(opened, 2, 4096, {&progress, nullptr}), Interrupted);
}

// One thread takes a whole segment as one chunk: that may be all of the heap.
TEST(Walk, CancelledInTheMiddleOfAChunk) {
  class Impatient : public Collector {
  public:
    Impatient(const Opened &opened, Progress &progress)
        : Collector(opened.runtime.types(), opened.heap), progress_(progress) {}
    void operator()(const Object &) {
      if (++progress_.objects == 10)
        progress_.cancel = true;
    }

  private:
    Progress &progress_;
  };
  HeapBuilder heap({});
  SegmentWriter &young = heap.segment(G::gen0);
  for (int i = 0; i < 10000; ++i)
    young.object(heap.object_type);
  Opened opened(heap);
  Progress progress;
  std::vector<std::unique_ptr<Impatient>> visitors;
  HeapWalk heap_walk(opened.heap, opened.runtime.memory(), 1, {&progress, nullptr}, 4096);
  auto make = [&] { return std::make_unique<Impatient>(opened, progress); };
  EXPECT_THROW(heap_walk.run(visitors, make), Interrupted);
  EXPECT_LT(progress.objects, 1000u);
}

} // namespace
} // namespace dnheap::test
