// The verbs about a CoreRT process (NF16): they answer as for every runtime, without names, and say what is not known.
#include "analysis/verb.h"
#include "base/text.h"
#include "report/write.h"
#include "runtime/corert/core_rt.h"
#include "snapshot/snapshot.h"
#include "support/nf16_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;
using Json = nlohmann::json;

Json answer(Snapshot &snapshot, const std::string &name) {
  for (const Verb &verb : verbs())
    if (name == verb.name) {
      std::string text;
      report::Sink sink(text);
      report::write_json(verb.answer(snapshot, {}), {}, sink);
      return Json::parse(text);
    }
  throw std::logic_error("no verb " + name);
}

Snapshot open(Nf16Builder &process) { return Snapshot(process.target(), {}); }

// The address of an EEType as a name: the module's file, and how far from its base.
std::string name_in(const Nf16Builder &process, Address type) {
  std::ostringstream out;
  out << "shop!0x" << std::hex << type - process.module_base();
  return out.str();
}

struct Shop {
  Address order, text;

  explicit Shop(Nf16Builder &process) : order(process.type(5 * process.p)), text(process.type(2 * process.p + 6, 2)) {
    Nf16Segment &old = process.segment(G::gen2), &young = process.segment(G::gen0);
    for (int i = 0; i < 3; ++i)
      old.object(order);
    process.segment(G::loh).object(text, 50000);
    young.object(text, 7);
    young.object(order);
    process.context = young.context(80);
    young.object(text, 0);
  }
};

TEST(Nf16Verbs, AnswerInFourFormats) {
  for (Format format : all_formats)
    for (bool exported : {true, false}) {
      SCOPED_TRACE(name_of(format));
      Nf16Builder process(format);
      process.exported = exported;
      Shop shop(process);
      Snapshot snapshot = open(process);

      Json stat = answer(snapshot, "stat");
      EXPECT_EQ(stat["target"]["runtime"], "corert");
      EXPECT_EQ(stat["target"]["version"], nullptr);
      EXPECT_EQ(stat["target"]["gc"]["server"], false);
      EXPECT_EQ(stat["target"]["gc"]["regions"], false);
      EXPECT_EQ(stat["target"]["gc"]["heaps"], 1);
      EXPECT_EQ(stat["completeness"]["complete"], true);
      EXPECT_EQ(stat["completeness"]["objects"], process.objects.size());
      std::map<std::string, u64> counts, bytes;
      for (const Json &row : stat["tables"]["types"]) {
        counts[row["type"]] = row["count"];
        bytes[row["type"]] = row["bytes"];
      }
      std::string order = name_in(process, shop.order), text = name_in(process, shop.text);
      EXPECT_EQ(counts, (std::map<std::string, u64>{{order, 4}, {text, 3}}));
      u64 of_texts = 0;
      for (const WrittenObject &object : process.objects)
        of_texts += object.method_table == shop.text ? object.size : 0;
      EXPECT_EQ(bytes, (std::map<std::string, u64>{{order, 4 * 5 * process.p}, {text, of_texts}}));

      Json segments = answer(snapshot, "segments");
      std::vector<std::string> generations;
      for (const Json &row : segments["tables"]["segments"]) {
        generations.push_back(row["generation"]);
        EXPECT_EQ(row["committed_end"], nullptr); // the format does not say
        EXPECT_EQ(row["reserved_end"], nullptr);
      }
      EXPECT_EQ(generations, (std::vector<std::string>{"gen2", "gen2", "gen1", "gen0", "loh"}));

      EXPECT_EQ(answer(snapshot, "objects")["tables"]["objects"].size(), process.objects.size());

      std::map<std::string, std::string> facts;
      const Json info = answer(snapshot, "info");
      for (const Json &row : info["tables"]["facts"])
        facts[row["fact"]] = row["value"];
      EXPECT_EQ(facts["runtime"], "/app/shop");
      EXPECT_EQ(facts["garbage collector"], "workstation, segments");
      EXPECT_NE(facts["contract descriptor"].find(exported ? "export of shop" : "scan of shop"), std::string::npos);
      EXPECT_NE(answer(snapshot, "contract").dump().find("min_object_size"), std::string::npos);
    }
}

// One contract of an unknown version: the answers say so, and are not called complete.
TEST(Nf16Verbs, WithoutOneContractTheRestGoesOn) {
  for (u64 section : {0, 1}) {
    Nf16Builder process({});
    Shop shop(process);
    process.versions[section] = {2, 0};
    Snapshot snapshot = open(process);
    for (const char *verb : {"stat", "segments", "objects", "info"}) {
      Json found = answer(snapshot, verb);
      EXPECT_EQ(found["completeness"]["complete"], false);
      EXPECT_NE(found["completeness"]["notes"].dump().find("has version 2.0"), std::string::npos)
          << found["completeness"];
      EXPECT_EQ(found["completeness"]["objects"], section == 0 ? process.objects.size() : 0);
    }
  }
}

// What that format has, and of the rest that it has none.
TEST(Nf16Verbs, GcAndHandles) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    Shop shop(process);
    Snapshot snapshot = open(process);
    const GcNf16 &gc = *snapshot.runtime().gc_nf16();
    Json tables = answer(snapshot, "gc")["tables"];
    std::map<std::string, Json> state;
    for (const Json &row : tables["state"])
      state[row["datum"]] = row["value"];
    EXPECT_EQ(state["identifiers"], "workstation, segments");
    EXPECT_EQ(state["structures_valid"], "true");
    EXPECT_EQ(state["number_generations"], std::to_string(gc.workstation_gc().number_generations));
    EXPECT_EQ(state["min_object_size"], std::to_string(gc.workstation_gc().min_object_size));
    EXPECT_EQ(tables["heaps"][0]["alloc_allocated"], hex(gc.get_alloc_allocated()));
    EXPECT_EQ(tables["heaps"][0]["ephemeral_segment"], hex(gc.get_ephemeral_heap_segment()));
    const std::vector<GenerationNf16> generations = gc.get_generation_table();
    ASSERT_EQ(tables["generations"].size(), generations.size());
    for (u64 i = 0; i < generations.size(); ++i) {
      const Json &row = tables["generations"][i];
      EXPECT_EQ(row["start_segment"], hex(generations[i].start_segment));
      EXPECT_EQ(row["allocation_start"], hex(generations[i].allocation_start));
      EXPECT_EQ(row["context_pointer"], hex(generations[i].allocation_context.pointer));
      EXPECT_EQ(row["context_limit"], hex(generations[i].allocation_context.limit));
    }
    EXPECT_EQ(tables["generations"][0]["context_pointer"], hex(process.context.pointer));
    const Json segments = answer(snapshot, "segments");
    for (const Json &row : segments["tables"]["segments"])
      EXPECT_EQ(row["next"], hex(gc.get_heap_segment(std::stoull(std::string(row["segment"]), nullptr, 16)).next));
    Json handles = answer(snapshot, "handles");
    EXPECT_TRUE(handles["tables"]["handles"].empty());
    EXPECT_EQ(handles["completeness"]["complete"], false);
    EXPECT_NE(handles["completeness"]["notes"].dump().find("has no data about handles"), std::string::npos);
  }
}

// What the format leads to by no address: whoever knows it says so.
TEST(Nf16Verbs, HintsReachTheTypesAndTheContextsOfThreads) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    Shop shop(process);
    AllocationContext of_thread = process.segments[1].context(40 * process.p);
    Address context = process.native.reserve(0x100);
    process.native.pointer(context + process.gc.alloc_context_alloc_ptr, of_thread.pointer);
    process.native.pointer(context + process.gc.alloc_context_alloc_limit, of_thread.limit);
    Address section = process.native.reserve(12);
    process.native.half(section, 1);
    process.native.word(section + 4, 4);
    Snapshot without(process.target(), {});
    EXPECT_EQ(answer(without, "stat")["completeness"]["complete"], false) << "the thread's context is a gap";
    SnapshotOptions options;
    options.hints.eetype_contract = section;
    options.hints.allocation_contexts = {context};
    Snapshot with(process.target(), options);
    Json stat = answer(with, "stat");
    EXPECT_EQ(stat["completeness"]["complete"], true) << stat["completeness"];
    EXPECT_EQ(stat["completeness"]["objects"], process.objects.size());
    options.hints.eetype_contract = section + 4; // of version 4
    Snapshot wrong(process.target(), options);
    EXPECT_THROW(wrong.runtime(), Error);
  }
}

TEST(Nf16Verbs, DuringACollection) {
  Nf16Builder process({});
  Shop shop(process);
  process.structures_invalid = 1;
  Snapshot snapshot = open(process);
  EXPECT_NE(answer(snapshot, "stat")["completeness"]["notes"].dump().find("while the GC was changing"),
            std::string::npos);
}

TEST(Nf16Verbs, AHeaderOfAnotherVersionIsNamed) {
  for (u16 major : {0, 2}) {
    Nf16Builder process({});
    Shop shop(process);
    process.version = {major, 1};
    Snapshot snapshot = open(process);
    try {
      answer(snapshot, "stat");
      ADD_FAILURE();
    } catch (const Error &e) {
      EXPECT_NE(std::string(e.what()).find("NF16 " + std::to_string(major) + ".1"), std::string::npos) << e.what();
    }
  }
}

} // namespace
} // namespace dnheap::test
