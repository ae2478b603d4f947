// The GC's records of its last collections, among variables that are written: found by their sums in every format, in
// the order of their numbers; and not found where anything contradicts itself.
#include "analysis/shapes/gc_records.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct WrittenRecord {
  u64 collection = 7, pause_us = 1500, committed = 900'000;
  float percentage = 12.5;
  u32 generation = 1;
  u8 concurrent = 0;
  u64 more_heap = 0; // beyond the generations'
};

struct RecordedHeap : LibraryHeap {
  explicit RecordedHeap(const HeapShape &shape) : LibraryHeap(shape) { old.object(heap.object_type); }

  void write(const WrittenRecord &what) {
    const Address at = heap.data.reserve(256); // more than it takes
    u64 word = 0;
    auto next = [&](u64 value) { heap.data.put(at + word++ * p, value, p); };
    for (const u64 value : {what.collection, what.committed, u64{5000}, u64{3}, u64{1}, what.pause_us, u64{0}})
      next(value);
    heap.data.put(at + word++ * p, std::bit_cast<u32>(what.percentage), 4);
    u64 sizes = 0;
    for (u64 i = 0; i < 5; ++i) {
      const u64 left = 8000 * i;
      for (const u64 value : {left + 1600, u64{160}, left, left ? u64{80} : 0})
        next(value);
      sizes += left;
    }
    next(sizes + what.more_heap), next(4 * 80);
    heap.data.put(at + word * p, 42, 4);
    heap.data.put(at + word * p + 4, what.generation, 1);
    heap.data.put(at + word * p + 5, 1, 1);
    heap.data.put(at + word * p + 6, what.concurrent, 1);
  }
  std::vector<TextRow> rows() {
    report::Answer answer = answer_of(heap, "gc");
    return text_rows_of(answer, "collections");
  }
};

TEST(GcRecords, AreFoundByTheirSums) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    RecordedHeap s(shape);
    s.write({});
    s.write({.collection = 9, .pause_us = 300, .percentage = 11, .generation = 2, .concurrent = 1});
    std::vector<TextRow> rows = s.rows();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["collection"], "9");
    EXPECT_EQ(rows[0]["concurrent"], "true");
    EXPECT_EQ(rows[1]["collection"], "7");
    EXPECT_EQ(rows[1]["generation"], "1");
    EXPECT_EQ(rows[1]["concurrent"], "false");
    EXPECT_EQ(rows[1]["compacting"], "true");
    EXPECT_EQ(rows[1]["pause_us"], "1500");
    EXPECT_EQ(rows[1]["freed_bytes"], std::to_string(5 * (1600 - 160) + 4 * 80));
    EXPECT_EQ(rows[1]["heap_bytes"], "80000");
    EXPECT_EQ(rows[1]["holes_bytes"], "320");
    EXPECT_EQ(rows[1]["load_percent"], "42");
  }
}

TEST(GcRecords, AreUnknownWhereTheyContradictThemselves) {
  const WrittenRecord wrong[] = {
      {.collection = 0},   {.pause_us = 0},    {.committed = 0},      {.committed = 900'001},
      {.percentage = 101}, {.percentage = -1}, {.generation = 3},     {.concurrent = 1},
      {.concurrent = 2},   {.more_heap = 8},   {.committed = 30'000}, {.percentage = NAN},
  };
  for (const WrittenRecord &one : wrong) {
    RecordedHeap s({});
    s.write(one);
    EXPECT_TRUE(s.rows().empty()) << &one - wrong;
  }
}

TEST(GcRecords, AreUnknownWhereThereAreTooMany) {
  for (const u64 count : {4, 5}) {
    RecordedHeap s({});
    for (u64 i = 0; i < count; ++i)
      s.write({.collection = 7 + i});
    EXPECT_EQ(s.rows().size(), count == 4 ? 4u : 0u);
  }
  RecordedHeap apart({});
  apart.write({});
  apart.heap.data.reserve(5000);
  apart.write({});
  EXPECT_TRUE(apart.rows().empty());
}

} // namespace
} // namespace dnheap::test
