// `frag`: every hole once, with those beside it; against a count of everything written, with chunks of any size.
#include "analysis/process/fragmentation.h"
#include "base/text.h"
#include "support/opened.h"
#include "support/random_heap.h"
#include "support/rows.h"

#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

u64 number_in(const TextRow &row, const char *key) { return std::stoull(row.at(key)); }

TEST(Frag, WhetherAPinOrASurvivorSitsBesideAHole) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    const u64 p = heap.p;
    const Address order = heap.type("Shop.Order", 2), buffer = heap.array(heap.object_type, 1);
    SegmentWriter &old = heap.segment(G::gen2);
    const Address first = old.object(order);
    const Address hole = old.free(1000 * p);
    const Address pinned = old.object(buffer, 100);
    old.free(20 * p);
    const Address last = old.object(order);
    SegmentWriter &large = heap.segment(G::loh);
    large.object(buffer, 10000);
    large.free(2000 * p);
    heap.gc.handles = {{.type = HandleType::pinned, .object = pinned}, {.type = HandleType::strong, .object = first}};
    report::Answer answer = answer_of(heap, "frag");
    std::vector<TextRow> largest = text_rows_of(answer, "largest"), beside = text_rows_of(answer, "beside"),
                         generations = text_rows_of(answer, "generations");
    ASSERT_EQ(largest.size(), 3u);
    EXPECT_EQ(largest[0]["generation"], "loh");
    EXPECT_EQ(largest[0]["after"], "");
    EXPECT_EQ(largest[0]["before_pin"], "");
    EXPECT_EQ(largest[1]["address"], hex(hole));
    EXPECT_EQ(largest[1]["before"], hex(first));
    EXPECT_EQ(largest[1]["before_type"], "Shop.Order");
    EXPECT_EQ(largest[1]["after"], hex(pinned));
    EXPECT_EQ(largest[1]["after_pin"], "handle:pinned");
    EXPECT_EQ(largest[2]["after"], hex(last));
    EXPECT_EQ(largest[2]["before_pin"], "handle:pinned");
    ASSERT_EQ(beside.size(), 2u);
    EXPECT_EQ(number_in(beside[0], "bytes"), 2000 * p);
    EXPECT_EQ(beside[0]["pin"], "");
    EXPECT_EQ(number_in(beside[1], "bytes"), 1020 * p);
    EXPECT_EQ(beside[1]["pin"], "handle:pinned");
    for (TextRow &row : generations)
      if (row["generation"] == "gen2") {
        EXPECT_EQ(number_in(row, "pinned_bytes"), 1020 * p);
        EXPECT_EQ(number_in(row, "largest"), 1000 * p);
        EXPECT_EQ(number_in(row, "pinned"), 2u);
      }
  }
}

// Of random heaps, what each hole's neighbours are, told from the list of all objects.
struct Twin {
  Twin(HeapBuilder &heap, const std::vector<Address> &pinned) {
    Opened opened(heap);
    std::map<Address, WrittenObject> objects;
    for (const WrittenObject &object : heap.objects)
      objects[object.address] = object;
    for (const ObjectRange &range : opened.heap.ranges()) {
      std::vector<WrittenObject> in;
      for (auto at = objects.lower_bound(range.address); at != objects.end() && at->first < range.end(); ++at)
        in.push_back(at->second);
      for (u64 i = 0; i < in.size(); ++i) {
        if (in[i].method_table != heap.free_type)
          continue;
        u64 before = i, after = i;
        while (before < in.size() && in[before].method_table == heap.free_type)
          --before; // wraps where there is none
        while (after < in.size() && in[after].method_table == heap.free_type)
          ++after;
        Hole hole{in[i].address, in[i].aligned_size, range.generation, before < in.size() ? in[before].address : 0,
                  after < in.size() ? in[after].address : 0};
        auto is_pinned = [&](Address object) {
          return object &&
                 (range.generation == G::poh || std::find(pinned.begin(), pinned.end(), object) != pinned.end());
        };
        bytes[static_cast<u8>(range.generation)] += hole.bytes;
        if (is_pinned(hole.before) || is_pinned(hole.after))
          pinned_bytes[static_cast<u8>(range.generation)] += hole.bytes;
        holes[hole.address] = hole;
      }
    }
  }
  std::map<Address, Hole> holes;
  std::array<u64, generation_count> bytes{}, pinned_bytes{};
};

TEST(Frag, AgainstAListOfAllObjects) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    std::mt19937_64 random(7);
    HeapBuilder heap(shape);
    add_random_heap(heap, 60000, random, false);
    std::vector<Address> pinned;
    for (const WrittenObject &object : heap.objects)
      if (object.method_table != heap.free_type && random() % 20 == 0) {
        pinned.push_back(object.address);
        heap.gc.handles.push_back(
            {.type = random() % 2 ? HandleType::pinned : HandleType::async_pinned, .object = object.address});
      }
    const Twin twin(heap, pinned);
    for (unsigned threads : {1u, 3u}) {
      SnapshotOptions options;
      options.threads = threads;
      Snapshot snapshot(heap.target(), options);
      const Pins pins(snapshot);
      const Fragmentation all = find_holes(snapshot, pins, 1 << 20), few = find_holes(snapshot, pins, 5);
      ASSERT_EQ(all.largest.size(), twin.holes.size());
      for (const Hole &hole : all.largest) {
        const auto at = twin.holes.find(hole.address);
        ASSERT_NE(at, twin.holes.end());
        EXPECT_EQ(hole.bytes, at->second.bytes);
        EXPECT_EQ(hole.before, at->second.before);
        EXPECT_EQ(hole.after, at->second.after);
      }
      for (u64 g = 0; g < generation_count; ++g) {
        EXPECT_EQ(all.generations[g].total().bytes, twin.bytes[g]);
        EXPECT_EQ(all.generations[g].total().pinned_bytes, twin.pinned_bytes[g]);
      }
      ASSERT_EQ(few.largest.size(), 5u);
      for (u64 i = 0; i < 5; ++i)
        EXPECT_EQ(few.largest[i].address, all.largest[i].address);
      HoleSum beside;
      for (const BesideHoles &one : all.beside)
        beside.add(one.holes);
      EXPECT_EQ(beside.bytes, all.total().bytes);
      EXPECT_EQ(beside.count, all.total().count);
      u64 free_bytes = 0;
      for (const SegmentTally &segment : snapshot.tally().segments)
        free_bytes += segment.free.aligned_bytes;
      EXPECT_EQ(all.total().bytes, free_bytes);
    }
  }
}

} // namespace
} // namespace dnheap::test
