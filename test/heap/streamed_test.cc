// A heap whose bytes must be asked for, block by block, as a live process's: it holds what the same heap holds that
// lies here at once.
#include "heap/object_cursor.h"
#include "heap/tally.h"
#include "support/opened.h"
#include "support/random_heap.h"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// Says of large ranges that they are not here, and counts what is copied. Small ones are the runtime's own structures.
class Elsewhere : public BytesOnDemand {
public:
  u64 fetch(Bytes bytes) override { return bytes.size(); }
  bool is_here(Bytes bytes) const override { return bytes.size() < 4096; }
  u64 copy(Bytes bytes, std::byte *out) override {
    u64 size = bytes.size();
    if (unreadable && unreadable < bytes.data() + size && bytes.data() < unreadable + hole)
      size = unreadable > bytes.data() ? static_cast<u64>(unreadable - bytes.data()) : 0;
    std::memcpy(out, bytes.data(), size);
    copied += size;
    u64 most = largest;
    while (size > most && !largest.compare_exchange_weak(most, size)) {
    }
    return size;
  }
  std::atomic<u64> copied{0}, largest{0};
  static constexpr u64 hole = 256 << 10;
  const std::byte *unreadable = nullptr; // from here on, so many bytes
};

bool same(const HeapTally &a, const HeapTally &b) {
  auto equal = [](const Tally &x, const Tally &y) {
    return x.count == y.count && x.bytes == y.bytes && x.aligned_bytes == y.aligned_bytes;
  };
  if (a.types.size() != b.types.size() || a.segments.size() != b.segments.size())
    return false;
  for (u64 i = 0; i < a.types.size(); ++i)
    for (u64 g = 0; g < generation_count; ++g)
      if (a.types[i].method_table != b.types[i].method_table ||
          !equal(a.types[i].generations[g], b.types[i].generations[g]))
        return false;
  for (u64 i = 0; i < a.segments.size(); ++i)
    if (!equal(a.segments[i].objects, b.segments[i].objects) || !equal(a.segments[i].free, b.segments[i].free))
      return false;
  return a.walk.objects == b.walk.objects && a.walk.bytes == b.walk.bytes && a.walk.bad_objects == b.walk.bad_objects;
}

struct Streamed : Opened {
  explicit Streamed(HeapBuilder &builder) : Opened(builder) { target->memory.fill_from(source); }
  HeapTally tally(unsigned threads) { return tally_heap(heap, runtime, threads, {}); }
  std::shared_ptr<Elsewhere> source = std::make_shared<Elsewhere>();
};

void expect_same_as_whole(HeapBuilder &builder) {
  Opened whole(builder);
  const HeapTally expected = tally_heap(whole.heap, whole.runtime, 1, {});
  for (unsigned threads : {1u, 3u}) {
    Streamed streamed(builder);
    EXPECT_TRUE(same(streamed.tally(threads), expected)) << threads << " threads";
    EXPECT_GT(streamed.source->copied, 0u);
    EXPECT_LE(streamed.source->largest, 10u << 20);
  }
  Streamed streamed(builder);
  ObjectCursor mine(streamed.heap, streamed.runtime), theirs(whole.heap, whole.runtime);
  for (;;) {
    const Object *a = mine.next(), *b = theirs.next();
    ASSERT_EQ(a == nullptr, b == nullptr);
    if (!a)
      return;
    ASSERT_EQ(a->address, b->address);
    ASSERT_EQ(a->size, b->size);
    ASSERT_EQ(mine.method_table(), theirs.method_table());
  }
}

TEST(Streamed, HoldsWhatTheHeapHolds) {
  std::mt19937_64 random(11);
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    add_random_heap(heap, 4 << 20, random);
    expect_same_as_whole(heap);
  }
}

TEST(Streamed, RangesLongerThanAChunk) {
  std::mt19937_64 random(12);
  HeapBuilder heap({});
  RandomTypes types(heap);
  add_random_objects(heap, heap.segment(GCSegmentGeneration::gen2), types, 40 << 20, random);
  expect_same_as_whole(heap);
  Streamed streamed(heap);
  streamed.tally(3);
  EXPECT_LE(streamed.source->largest, 1u << 20) << "of a sound heap no more than a block is held";
}

TEST(Streamed, DamageIsFoundInTheSamePlaces) {
  std::mt19937_64 random(13);
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    add_random_heap(heap, 4 << 20, random);
    for (const SegmentWriter &segment : heap.segments)
      for (int i = 0; i < 3; ++i)
        heap.poke(segment.start + random() % (segment.end() - segment.start - 8) / 8 * 8, random(), heap.p);
    expect_same_as_whole(heap);
  }
}

TEST(Streamed, OfLongArraysOnlyTheBeginningIsRead) {
  HeapBuilder heap({});
  RandomTypes types(heap);
  SegmentWriter &large = heap.segment(GCSegmentGeneration::loh);
  for (int i = 0; i < 5; ++i)
    large.object(types.bytes, 6 << 20);
  expect_same_as_whole(heap);
  Streamed streamed(heap);
  EXPECT_EQ(streamed.tally(2).walk.objects, 5u);
  EXPECT_LE(streamed.source->copied, (5u << 20) + 4096);
}

TEST(Streamed, WhatCannotBeReadIsAGap) {
  std::mt19937_64 random(14);
  HeapBuilder heap({});
  RandomTypes types(heap);
  add_random_objects(heap, heap.segment(GCSegmentGeneration::gen2), types, 5 << 20, random);
  Streamed streamed(heap);
  const ObjectRange &range = streamed.heap.ranges()[0];
  streamed.source->unreadable = range.bytes.data() + (3 << 20);
  HeapTally tally = streamed.tally(2);
  EXPECT_GT(tally.walk.bad_objects, 0u);
  u64 gaps = 0;
  for (const Gap &gap : tally.walk.gaps.listed())
    gaps += gap.end - gap.start;
  EXPECT_GT(gaps, 0u);
  EXPECT_EQ(tally.walk.bytes + gaps + streamed.heap.context_bytes(), streamed.heap.segment_bytes());
}

} // namespace
} // namespace dnheap::test
