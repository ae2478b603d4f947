// LiveGc on synthetic processes: what `segments` says of the same heap, again and again, without a pause.
#include "base/error.h"
#include "heap/heap.h"
#include "snapshot/live_gc.h"
#include "support/random_heap.h"
#include "support/synthetic_process.h"

#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

namespace dnheap::test {
namespace {

constexpr const char *taken = "the test program's own memory lies where the process's should: chance";

TEST(LiveGc, TellsTheSizesOfGenerations) {
  for (const HeapShape &shape : {HeapShape{.net = Net::net9, .regions = false}, HeapShape{.net = Net::net10},
                                 HeapShape{.net = Net::net11, .server = true, .heaps = 2}}) {
    HeapBuilder builder(shape);
    std::mt19937_64 random(7);
    add_random_heap(builder, 5000, random);
    const std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*builder.target());
    if (!process)
      GTEST_SKIP() << taken;
    std::array<u64, generation_count> expected{};
    std::unique_ptr<Snapshot> snapshot = Snapshot::attach(process->pid());
    for (const HeapSegment &segment : snapshot->heap().segments())
      expected[static_cast<u64>(segment.generation)] += segment.end - segment.start;
    snapshot.reset(); // the process goes on
    const LiveGc gc(process->pid(), {});
    EXPECT_TRUE(gc.runtime().starts_with(".NET ")) << gc.runtime();
    for (int looks = 0; looks < 3; ++looks) {
      const std::optional<GcFigures> figures = gc.look();
      ASSERT_TRUE(figures);
      EXPECT_EQ(figures->bytes, expected);
      EXPECT_GT(figures->of(GCSegmentGeneration::gen2), 0u);
      EXPECT_EQ(figures->out_of_memory.size(), shape.server ? shape.heaps : 1u);
    }
    EXPECT_TRUE(process->goes_on());
  }
}

TEST(LiveGc, SeesWhatChanges) {
  HeapBuilder builder({.net = Net::net10});
  SegmentWriter &gen2 = builder.segment(GCSegmentGeneration::gen2);
  for (int i = 0; i < 100; ++i)
    gen2.string("text");
  const std::unique_ptr<Target> target = builder.target();
  const Address structure = gen2.structure, end = gen2.end(), half = gen2.start + (gen2.end() - gen2.start) / 2;
  const std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*target, [=, calls = 0]() mutable {
    ::usleep(1000);
    if (++calls % 100 != 0)
      return;
    for (volatile u64 *word = reinterpret_cast<volatile u64 *>(structure);
         word < reinterpret_cast<u64 *>(structure) + 16; ++word)
      if (*word == end || *word == half)
        *word = calls % 200 ? half : end;
  });
  if (!process)
    GTEST_SKIP() << taken;
  const LiveGc gc(process->pid(), {});
  std::set<u64> seen;
  for (int looks = 0; looks < 1000 && seen.size() < 2; ++looks) {
    seen.insert(gc.look()->of(GCSegmentGeneration::gen2));
    ::usleep(1000);
  }
  EXPECT_EQ(seen, (std::set<u64>{half - gen2.start, end - gen2.start}));
}

TEST(LiveGc, WaitsForTheGCButNotForEver) {
  HeapBuilder builder({.net = Net::net10});
  builder.segment(GCSegmentGeneration::gen0).string("text");
  builder.structures_invalid = 1;
  const std::unique_ptr<Target> target = builder.target();
  const Address invalid = builder.variables.at("invalid_count");
  const std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*target, [=, calls = 0]() mutable {
    ::usleep(1000);
    if (++calls == 1000)
      *reinterpret_cast<volatile u32 *>(invalid) = 0;
  });
  if (!process)
    GTEST_SKIP() << taken;
  const LiveGc gc(process->pid(), {});
  bool was_at_work = false, is_told = false;
  for (int looks = 0; looks < 100 && !is_told; ++looks)
    (gc.look() ? is_told : was_at_work) = true;
  EXPECT_TRUE(was_at_work);
  EXPECT_TRUE(is_told);
}

TEST(LiveGc, NothingIsSaidOfWhatIsNoDotnet) { EXPECT_THROW(LiveGc(static_cast<u64>(::getpid()), {}), Error); }

TEST(LiveGc, OneThatHasEndedIsAnError) {
  HeapBuilder builder({.net = Net::net10});
  builder.segment(GCSegmentGeneration::gen2).string("a");
  std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*builder.target());
  if (!process)
    GTEST_SKIP() << taken;
  const LiveGc gc(process->pid(), {});
  process.reset();
  EXPECT_THROW(gc.look(), Error);
}

} // namespace
} // namespace dnheap::test
