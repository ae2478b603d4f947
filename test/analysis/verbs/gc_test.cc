// What `gc`, `segments` and `show` tell of the GC's own data: every datum of the contract is reached by some verb.
#include "analysis/verb.h"
#include "base/text.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/opened.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

SnapshotOptions one_thread() {
  SnapshotOptions out;
  out.threads = 1;
  return out;
}
using Json = nlohmann::json;

Json tables_of(Snapshot &snapshot, const std::string &name, const std::string &subject = "") {
  for (const Verb &verb : verbs())
    if (name == verb.name) {
      Question question;
      question.subject = subject;
      std::string text;
      report::Sink sink(text);
      report::write_json(ask(verb, snapshot, question), {}, sink);
      return Json::parse(text)["tables"];
    }
  throw std::logic_error("no verb " + name);
}

Json state_of(const Json &tables, const std::string &datum, const char *column = "value") {
  for (const Json &row : tables["state"])
    if (row["datum"] == datum)
      return row[column];
  return "no such row";
}

// But for the settings of the process, which these have none of.
u64 problems_in(const Json &tables) {
  return static_cast<u64>(std::ranges::count_if(tables["problems"], [](const Json &row) {
    return row["problem"].get<std::string>().find("GC settings") == std::string::npos;
  }));
}

void fill(HeapBuilder &heap) {
  for (u32 h = 0; h < heap.shape.heaps; ++h) {
    SegmentWriter &young = heap.shape.regions ? heap.segment(G::gen0, h) : heap.ephemeral(h);
    if (!heap.shape.regions)
      young.begin_gen0();
    young.object(heap.object_type);
    if (h < 2) {
      heap.threads[h].context = young.context(64);
      heap.threads[h].alloc_bytes = 4096 + 8 * h;
      heap.threads[h].alloc_bytes_uoh = 100000 * h;
    }
  }
}

// Whether the runtime publishes where they are counted (.NET 11) or not.
TEST(GcVerb, ContextsByThread) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    fill(heap);
    Snapshot snapshot(heap.target(), one_thread());
    const Json tables = tables_of(snapshot, "gc");
    EXPECT_EQ(problems_in(tables), 0u) << tables["problems"];
    u64 threads = 0, generations = 0;
    for (const Json &row : tables["contexts"])
      if (row["owner"] == "thread") {
        const ThreadWriter &thread = heap.threads.at(threads++);
        EXPECT_EQ(row["os_id"], thread.os_id);
        EXPECT_EQ(row["thread"], hex(thread.address));
        EXPECT_EQ(row["pointer"], hex(thread.context.pointer));
        EXPECT_EQ(row["limit"], hex(thread.context.limit));
        EXPECT_EQ(row["unused_bytes"], thread.context.limit - thread.context.pointer);
        EXPECT_EQ(row["alloc_bytes"], thread.alloc_bytes);
        EXPECT_EQ(row["alloc_bytes_uoh"], thread.alloc_bytes_uoh);
      } else if (row["owner"] == "generation") {
        ++generations;
        EXPECT_EQ(row["alloc_bytes"], nullptr);
      }
    EXPECT_EQ(threads, 2u);
    EXPECT_EQ(generations, 5u * shape.heaps);
  }
}

// A count that is none is not shown, and that is said.
TEST(GcVerb, BytesThatCannotBe) {
  for (u64 bytes : {u64{0}, u64{8}, u64{4097}, u64{1} << 46})
    for (Net net : {Net::net8, Net::net9, Net::net10}) {
      if (net == Net::net8 && bytes < 64)
        continue; // not published: what has handed out less than it has left is not taken for a context at all
      HeapBuilder heap({.net = net, .published = net != Net::net8});
      fill(heap);
      heap.threads[0].alloc_bytes = bytes; // the unused rest alone is 64
      Snapshot snapshot(heap.target(), one_thread());
      const Json tables = tables_of(snapshot, "gc");
      EXPECT_EQ(tables["contexts"][0]["alloc_bytes"], nullptr) << bytes;
      EXPECT_NE(tables["problems"].dump().find("GCAllocContext.AllocBytes"), std::string::npos);
      EXPECT_EQ(tables_of(snapshot, "stat").dump().find("AllocBytes"), std::string::npos);
    }
}

// Counters that are zero although objects survived a collection were never counted.
TEST(GcVerb, MechanismsThatAreNotRecorded) {
  auto gc_of = [](bool survived, u64 count, bool server, bool regions) {
    HeapBuilder heap({.server = server, .heaps = server ? 2u : 1u, .regions = regions});
    if (regions) {
      fill(heap);
      SegmentWriter &old = heap.segment(G::gen2);
      for (int i = 0; i < (survived ? 30 : 3); ++i)
        old.object(heap.object_type);
    } else {
      for (u32 h = 0; h < heap.shape.heaps; ++h) {
        SegmentWriter &all = heap.ephemeral(h);
        for (int i = 0; i < (survived ? 30 : 3); ++i)
          all.object(heap.object_type);
        all.begin_gen1();
        all.object(heap.object_type);
        all.begin_gen0();
        all.object(heap.object_type);
      }
    }
    heap.gc.heaps[0].compact = {0, count};
    Snapshot snapshot(heap.target(), one_thread());
    return tables_of(snapshot, "gc");
  };
  for (bool server : {false, true})
    for (bool regions : {false, true})
      for (bool survived : {false, true})
        for (u64 count : {0, 3}) {
          SCOPED_TRACE(std::string(server ? "server" : "workstation") + (regions ? " regions" : " segments") +
                       (survived ? " survived" : "") + " " + std::to_string(count));
          const Json tables = gc_of(survived, count, server, regions);
          const bool recorded = !survived || count;
          EXPECT_EQ(state_of(tables, "mechanisms"), recorded ? "recorded" : "not recorded");
          ASSERT_FALSE(tables["mechanisms"].empty());
          for (const Json &row : tables["mechanisms"])
            EXPECT_EQ(row["count"].is_null(), !recorded) << row;
        }
}

TEST(GcVerb, NumbersBesideWords) {
  HeapBuilder heap({.server = true, .heaps = 2});
  fill(heap);
  heap.gc.background_state = 1;
  heap.gc.adaptation_mode = 1;
  heap.gc.heaps[0].free_regions[2] = {{0x10000, 0x11000}};
  Snapshot snapshot(heap.target(), one_thread());
  const Json tables = tables_of(snapshot, "gc");
  EXPECT_EQ(state_of(tables, "background_gc", "raw"), 1);
  EXPECT_EQ(state_of(tables, "background_gc"), "planning");
  EXPECT_EQ(state_of(tables, "dynamic_adaptation", "raw"), 1);
  EXPECT_EQ(state_of(tables, "identifiers", "raw"), nullptr);
  ASSERT_EQ(tables["free_regions"].size(), 1u);
  EXPECT_EQ(tables["free_regions"][0]["kind_number"], 3);
  EXPECT_EQ(tables["free_regions"][0]["size_number"], 2);
  std::map<std::string, u64> next;
  for (const Json &row : tables["mechanisms"])
    EXPECT_EQ(row["index"], next[row["heap"].dump() + std::string(row["group"])]++);
}

TEST(SegmentsVerb, EveryFieldOfASegment) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    fill(heap);
    heap.segment(G::frozen).string("frozen");
    Snapshot snapshot(heap.target(), one_thread());
    const Json tables = tables_of(snapshot, "segments");
    const std::vector<Address> heaps = snapshot.runtime().gc().get_gc_heaps();
    u64 frozen = 0;
    for (const Json &row : tables["segments"])
      for (const SegmentWriter &s : heap.segments)
        if (row["segment"] == hex(s.structure)) {
          EXPECT_EQ(row["used"], hex(s.end()));
          EXPECT_EQ(row["flags"], s.generation == G::frozen ? 1 : 0);
          EXPECT_EQ(row["flags_text"], s.generation == G::frozen ? "readonly" : "");
          frozen += s.generation == G::frozen;
          EXPECT_EQ(row["background_allocated"], hex(s.start + heap.p));
          EXPECT_EQ(row["gc_heap"], shape.server ? Json(hex(heaps[s.heap])) : Json());
          EXPECT_TRUE(row["next"].is_string());
        }
    EXPECT_EQ(frozen, 1u);
  }
}

// Plain series, those that grow, and patterns that repeat.
TEST(ShowVerb, SeriesOfAType) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    const u64 p = heap.p;
    SegmentWriter &young = heap.segment(G::gen0);
    auto one = [&](Address type, u64 components) { return young.object(type, components); };
    Address two = one(heap.method_table({.base_size = static_cast<u32>(8 * p),
                                         .rid = heap.app().metadata.type("Shop", "Two"),
                                         .series = {{4 * p, 2 * p}, {p, p}}}),
                      0);
    Address array = one(heap.object_array_type, 3), plain = one(heap.string_type, 4);
    Address pairs = one(heap.method_table({.base_size = static_cast<u32>(3 * p),
                                           .component_size = static_cast<u32>(2 * p),
                                           .rid = heap.app().metadata.type("Shop", "Pairs"),
                                           .pattern = {{1, p}},
                                           .pattern_start = 2 * p}),
                        2);
    Snapshot snapshot(heap.target(), one_thread());
    auto series = [&](Address object) { return tables_of(snapshot, "show", hex(object))["series"]; };
    Json of_two = series(two);
    ASSERT_EQ(of_two.size(), 2u);
    std::map<u64, u64> runs;
    for (const Json &row : of_two)
      runs[row["offset"]] = row["references"];
    EXPECT_EQ(runs, (std::map<u64, u64>{{p, 1}, {4 * p, 2}}));
    EXPECT_EQ(of_two[0]["grows"], false);
    ASSERT_EQ(series(array).size(), 1u);
    EXPECT_EQ(series(array)[0]["offset"], 2 * p);
    EXPECT_EQ(series(array)[0]["grows"], true);
    EXPECT_TRUE(series(plain).empty());
    ASSERT_EQ(series(pairs).size(), 1u);
    EXPECT_EQ(series(pairs)[0]["offset"], 2 * p);
    EXPECT_EQ(series(pairs)[0]["references"], 1);
    EXPECT_EQ(series(pairs)[0]["skip"], p);
  }
}

} // namespace
} // namespace dnheap::test
