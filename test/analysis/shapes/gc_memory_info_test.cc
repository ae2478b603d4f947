// What the GC reported about memory: the newest sound result of GC.GetGCMemoryInfo(), wherever it lies; what `gc` and
// `report` show of it.
#include "analysis/shapes/gc_memory_info.h"
#include "analysis/verdict/oom_text.h"
#include "base/text.h"
#include "support/opened.h"
#include "support/rows.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

struct Reported {
  u64 collection = 0, limit = 0, high_load = 0, load = 0, heap = 0, fragmented = 0;
  u32 generation = 2;
  u8 compacted = 1, concurrent = 0;
};

// Fields where all versions have them; the pauses as .NET 8 to 10 have them.
struct ReportedHeap {
  explicit ReportedHeap(const HeapShape &shape, const char *index = "_index") : heap(shape) {
    const char *longs[] = {"_highMemoryLoadThresholdBytes",
                           "_totalAvailableMemoryBytes",
                           "_memoryLoadBytes",
                           "_heapSizeBytes",
                           "_fragmentedBytes",
                           "_totalCommittedBytes",
                           "_promotedBytes",
                           "_pinnedObjectsCount",
                           "_finalizationPendingCount",
                           index,
                           "_pauseDuration0",
                           "_pauseDuration1"};
    const u32 rid = heap.app().metadata.type("System", "GCMemoryInfoData");
    type = heap.method_table({.base_size = static_cast<u32>(2 * heap.p + 14 * 8), .rid = rid});
    std::vector<FieldShape> fields;
    auto add = [&](const char *name, ElementType kind, u64 offset) {
      fields.push_back(
          {heap.app().metadata.field(name, field_signature(element(kind))), kind, static_cast<u32>(offset)});
    };
    for (u64 i = 0; i < std::size(longs); ++i)
      add(longs[i], ElementType::I8, 8 * i);
    add("_generation", ElementType::I4, 96);
    add("_pauseTimePercentage", ElementType::I4, 100);
    add("_compacted", ElementType::U1, 104);
    add("_concurrent", ElementType::U1, 105);
    heap.fields(type, fields);
  }

  SegmentWriter &young() {
    if (!young_) {
      young_ = heap.shape.regions ? &heap.segment(G::gen0) : &heap.ephemeral();
      if (!heap.shape.regions)
        young_->begin_gen0();
    }
    return *young_;
  }
  Address add(SegmentWriter &to, const Reported &what) {
    const Address at = to.object(type), first = at + heap.p;
    const u64 longs[] = {
        what.high_load,  what.limit, what.load, what.heap, what.fragmented, what.heap + 500, what.heap, 3, 1,
        what.collection, 1500,       200};
    for (u64 i = 0; i < std::size(longs); ++i)
      to.store(first + 8 * i, longs[i], 8);
    to.store(first + 96, what.generation, 4);
    to.store(first + 100, 1234, 4);
    to.store(first + 104, what.compacted, 1);
    to.store(first + 105, what.concurrent, 1);
    return at;
  }
  std::map<std::string, TextRow> rows() {
    report::Answer answer = answer_of(heap, "gc");
    std::map<std::string, TextRow> out;
    for (TextRow &row : text_rows_of(answer, "memory_info"))
      out[row["datum"]] = row;
    return out;
  }

  HeapBuilder heap;
  Address type = 0;

private:
  SegmentWriter *young_ = nullptr;
};

constexpr u64 gib = u64{1} << 30;
// As a container of a GiB has it.
constexpr Reported sound = {
    .collection = 57, .limit = gib / 4 * 3, .high_load = gib / 10 * 9, .load = gib / 2, .heap = 4000, .fragmented = 40};

Reported with(void (*change)(Reported &)) {
  Reported out = sound;
  change(out);
  return out;
}

TEST(GCMemoryInfo, TheNewestSoundOneCounts) {
  const Reported unsound[] = {with([](Reported &r) { r.limit = 0; }),
                              with([](Reported &r) { r.high_load = 0; }),
                              with([](Reported &r) { r.limit = u64{1} << 52; }),
                              with([](Reported &r) { r.collection = u64{1} << 48; }),
                              with([](Reported &r) { r.generation = 3; }),
                              with([](Reported &r) { r.fragmented = r.heap + 1; }),
                              with([](Reported &r) { r.concurrent = 1, r.generation = 1; }),
                              with([](Reported &r) { r.load = ~u64{0}; }),
                              with([](Reported &r) { r.collection = 0; })};
  for (const HeapShape &shape : all_shapes()) {
    if (shape.heaps > 1)
      continue;
    SCOPED_TRACE(name_of(shape));
    ReportedHeap s(shape);
    s.add(s.young(), with([](Reported &r) { r.collection = 56; }));
    for (Reported one : unsound) {
      one.collection += one.collection ? 100 : 0;
      s.add(s.young(), one);
    }
    const Address newest = s.add(s.young(), sound);
    s.add(s.young(), with([](Reported &r) { r.collection = 9; }));
    std::map<std::string, TextRow> rows = s.rows();
    ASSERT_EQ(rows.size(), 14u);
    EXPECT_EQ(rows["object"]["value"], hex(newest));
    EXPECT_EQ(rows["collection"]["raw"], "57");
    EXPECT_EQ(rows["available"]["raw"], std::to_string(sound.limit));
    EXPECT_EQ(rows["high_load"]["raw"], std::to_string(sound.high_load));
    EXPECT_EQ(rows["load"]["value"], "512.0 MiB");
    EXPECT_EQ(rows["heap"]["raw"], "4000");
    EXPECT_EQ(rows["committed"]["raw"], "4500");
    EXPECT_EQ(rows["kind"]["value"], "gen2, blocking, compacting");
    EXPECT_EQ(rows["pause"]["raw"], "170000"); // both
    EXPECT_EQ(rows["pause_share"]["value"], "12.34 %");
  }
}

// Before the first collection only the limits are known.
TEST(GCMemoryInfo, BeforeTheFirstCollection) {
  ReportedHeap s({});
  s.add(s.young(), {.limit = gib, .high_load = gib / 10 * 9, .generation = 0, .compacted = 0});
  s.heap.poke(s.heap.objects.front().address + s.heap.p + 5 * 8, 0, 8); // committed
  std::map<std::string, TextRow> rows = s.rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows["collection"]["value"], "before the first");
  EXPECT_EQ(rows["available"]["value"], "1.0 GiB");
}

// `gc` looks at gen0 and gen1 alone, other questions at all objects.
TEST(GCMemoryInfo, OfAllGenerations) {
  ReportedHeap s({});
  s.add(s.heap.segment(G::gen2), sound);
  EXPECT_TRUE(s.rows().empty());
  ReportedHeap both({});
  both.add(both.heap.segment(G::gen2), sound);
  both.add(both.heap.segment(G::gen1), with([](Reported &r) { r.collection = 3; }));
  Snapshot snapshot(both.heap.target(), {});
  EXPECT_EQ(find_recent_gc_memory_info(snapshot).newest.value().collection, 3u);
  EXPECT_EQ(find_gc_memory_info(snapshot).newest.value().collection, 57u);
}

TEST(GCMemoryInfo, OfAnotherShapeIsLeftOut) {
  ReportedHeap s({}, "_number");
  s.add(s.young(), sound);
  Snapshot snapshot(s.heap.target(), {});
  const FoundMemoryInfo found = find_gc_memory_info(snapshot);
  EXPECT_FALSE(found.newest);
  EXPECT_GT(found.unknown, 0u);
}

TEST(GCMemoryInfo, WhereTheLimitComesFrom) {
  auto info_of = [](u64 limit, u64 high_load) {
    GCMemoryInfo out;
    out.limit = limit, out.high_load = high_load;
    return out;
  };
  const GCMemoryInfo in_container = info_of(gib / 4 * 3, gib / 10 * 9);
  EXPECT_EQ(in_container.container(), gib);
  EXPECT_TRUE(in_container.has_own_limit());
  EXPECT_EQ(origin_of_limit(in_container, {}), "75 % of a container's 1.0 GiB");
  const GCMemoryInfo small = info_of(200 << 20, 20 * gib);
  EXPECT_FALSE(small.container());
  EXPECT_EQ(origin_of_limit(small, {}), "a limit for the heap");
  GCSettings settings;
  settings.list = {{"DOTNET_GCHeapHardLimit", "C800000", true, 200 << 20}};
  EXPECT_EQ(origin_of_limit(small, settings), "DOTNET_GCHeapHardLimit=C800000");
  EXPECT_EQ(origin_of_limit(in_container, settings), "75 % of a container's 1.0 GiB"); // that setting is another limit
  const GCMemoryInfo machine = info_of(25276502016, 22748851814);
  EXPECT_FALSE(machine.has_own_limit());
  EXPECT_EQ(origin_of_limit(machine, {}), "the memory of the machine or container");

  GCOomData oom;
  oom.reason = 2;
  const std::string unknown = oom_text(oom, nullptr), known = oom_text(oom, nullptr, &in_container);
  EXPECT_NE(unknown.find("75 % of a container's memory"), unknown.npos) << unknown;
  EXPECT_NE(known.find("the GC's own limit is 768.0 MiB, 75 % of a container's 1.0 GiB"), known.npos) << known;
  EXPECT_EQ(oom_text(oom, nullptr, &machine), unknown);
}

// Returns what the report finds about the limit if 10,000 bytes and more are alive. `dead`, `free`: bytes of garbage
// and of a hole.
std::string found_about_limit(const Reported &reported, u64 dead = 0, u64 free = 0) {
  ReportedHeap s({});
  SegmentWriter &old = s.heap.segment(G::gen2);
  const Address array = old.object(s.heap.object_array_type, 1250);
  if (dead)
    old.object(s.heap.object_array_type, dead / s.heap.p);
  if (free)
    old.free(free);
  old.object(s.heap.object_type);
  s.heap.gc.handles = {{.type = HandleType::strong, .object = array}};
  s.add(s.young(), reported);
  report::Answer answer = answer_of(s.heap, "report");
  std::string out;
  for (TextRow &row : text_rows_of(answer, "findings"))
    out += row["kind"] + " (" + row["sureness"] + "): " + row["text"];
  return out;
}

TEST(GCMemoryInfo, FindingNearTheLimit) {
  const std::string live =
      found_about_limit(with([](Reported &r) { r.limit = 11000, r.heap = 10500, r.fragmented = 12; }));
  EXPECT_TRUE(live.starts_with("memory_limit (certain): The GC may use 10.7 KiB (a limit for the heap), and 9.8 KiB of "
                               "that (91 %) is alive, which no collection can free: an OutOfMemoryException is near. "
                               "After collection 57 (gen2) the heap had 10.3 KiB, 12 B of it holes."))
      << live;
  // Much garbage, and much that is committed, are usual.
  EXPECT_EQ(found_about_limit(with([](Reported &r) { r.limit = 13000, r.heap = 12900; }), 3000), "");
  EXPECT_EQ(found_about_limit(sound), "");
  const std::string left =
      found_about_limit(with([](Reported &r) { r.limit = 20000, r.heap = 18100, r.fragmented = 8000; }), 0, 8000);
  EXPECT_TRUE(left.starts_with("memory_limit (probable): The GC may use 19.5 KiB (a limit for the heap), and after "
                               "collection 57 (gen2) the heap had 17.7 KiB, 7.8 KiB of it holes (90 % of that)"))
      << left;
  for (auto change : {+[](Reported &r) { r.generation = 1; }, +[](Reported &r) { r.concurrent = 1; }}) {
    Reported other = with([](Reported &r) { r.limit = 20000, r.heap = 18100, r.fragmented = 8000; });
    change(other);
    EXPECT_EQ(found_about_limit(other, 0, 8000), ""); // what it left may be garbage
  }
  const std::string load =
      found_about_limit(with([](Reported &r) { r.limit = 30000, r.high_load = 15000, r.load = 16000; }));
  EXPECT_TRUE(load.starts_with("memory_limit (possible): At collection 57, 15.6 KiB were in use")) << load;
  // Other programs use up the machine's memory.
  EXPECT_EQ(found_about_limit(with([](Reported &r) { r.limit = 90000, r.high_load = 70000, r.load = 71000; })), "");
  EXPECT_EQ(found_about_limit(with([](Reported &r) { r.limit = 30000, r.high_load = 15000, r.load = 14000; })), "");
}

} // namespace
} // namespace dnheap::test
