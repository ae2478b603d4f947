// Whatever is damaged, in the runtime's structures or in the heap: an Error with a text, or an answer whose sum closes.
// Never a crash, a hang, or an exception of another kind.
#include "analysis/verb.h"
#include "heap/object_cursor.h"
#include "snapshot/snapshot.h"
#include "support/gaps.h"
#include "support/opened.h"
#include "support/random_heap.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

void damage(HeapBuilder &heap, std::mt19937_64 &random) {
  // Where, and how much of it matters: the runtime's data, its structures, images, objects.
  std::vector<std::pair<Address, u64>> stretches = {{heap.data.address(), heap.data.end() - heap.data.address()},
                                                    {heap.native.address(), heap.native.end() - heap.native.address()},
                                                    {heap.core().image, 4096},
                                                    {heap.app().image, 4096}};
  for (const Block &handles : heap.handle_segments) // headers, and some slots
    stretches.emplace_back(handles.address(), 0x1400);
  for (const SegmentWriter &s : heap.segments)
    if (s.end() > s.start)
      stretches.emplace_back(s.start, s.end() - s.start);
  const u64 values[] = {0, 1, ~u64{0}, 0x7fffffff, heap.native.address(), heap.segments[0].start, random()};
  for (int hits = 1 << random() % 7; hits; --hits) {
    auto [start, size] = stretches[random() % stretches.size()];
    Address at = start + random() % size;
    if (random() % 16 == 0)
      heap.hole(at, at + 1 + random() % 512);
    else if (random() % 2)
      heap.poke(at, random(), 1);
    else
      heap.poke(at & ~(heap.p - 1), values[random() % std::size(values)], heap.p);
  }
}

// True: there was an answer.
bool examine(HeapBuilder &heap) {
  SnapshotOptions options;
  options.threads = 2;
  Snapshot snapshot(heap.target(), options);
  try {
    const HeapTally &tally = snapshot.tally();
    const Heap &of = snapshot.heap();
    EXPECT_EQ(tally.walk.bytes + of.context_bytes() + sum_of(of.gaps()) + tally.walk.gaps.bytes(), of.segment_bytes());
    u64 count = 0;
    for (const TypeTally &type : tally.types) {
      EXPECT_FALSE(snapshot.runtime().types().name(type.method_table).empty());
      count += type.total().count;
    }
    EXPECT_EQ(count, tally.walk.objects);
    ObjectCursor cursor(of, snapshot.runtime());
    while (cursor.next())
      --count;
    EXPECT_EQ(count, 0u);
    for (const char *verb : {"gc", "handles"})
      for (const Verb &v : verbs())
        if (std::string_view(v.name) == verb)
          v.answer(snapshot, {});
    return true;
  } catch (const Error &e) {
    EXPECT_GT(std::string_view(e.what()).size(), 20u) << e.what();
    EXPECT_LT(std::string_view(e.what()).size(), 4000u) << e.what();
    return false;
  }
}

TEST(Damage, ErrorOrAnswer) {
  std::mt19937_64 random(1);
  u64 answers = 0, errors = 0;
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (int round = 0; round < 12; ++round) {
      HeapBuilder heap(shape);
      add_random_heap(heap, 2000, random);
      for (u32 i = 0; i < 200 && i + 1 < heap.objects.size(); ++i)
        heap.gc.handles.push_back(
            {.type = static_cast<HandleType>(i % 7),
             .object = heap.objects[i].address,
             .secondary = i % 7 == 6 ? std::optional(u64{heap.objects[i + 1].address}) : std::nullopt,
             .segment = i % 2});
      heap.gc.heaps[0].free_regions[0] = {{0x10000, 0x11000}, {0x20000, 0x21000}};
      heap.target(); // lays everything out
      damage(heap, random);
      ++(examine(heap) ? answers : errors);
    }
  }
  // Both must be common, or the damage is not what it should be.
  EXPECT_GT(answers, errors / 4);
  EXPECT_GT(errors, answers / 40); // most damage leaves an answer, with gaps
}

} // namespace
} // namespace dnheap::test
