// The verbs answer for NativeAOT as for CoreCLR.
#include "analysis/verb.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/aot_builder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dnheap::test {
namespace {

nlohmann::json ask(const AotShape &shape, std::string_view name) {
  AotBuilder heap(shape);
  Address node = heap.type("Shop", "Node", 2);
  AotSegment &young = heap.segment(GCSegmentGeneration::gen0);
  for (int i = 0; i < 5; ++i)
    heap.object(young, node);
  Address statics = heap.object(heap.segment(GCSegmentGeneration::gen2), heap.statics(1));
  heap.handles = {{HandleType::strong, statics}};
  SnapshotOptions options;
  options.threads = 1;
  Snapshot snapshot(heap.target(), options);
  auto verb = std::find_if(verbs().begin(), verbs().end(), [&](const Verb &v) { return v.name == name; });
  report::Answer answer = verb->answer(snapshot, {});
  EXPECT_NE(headline_text(answer).find("NativeAOT on linux"), std::string::npos) << headline_text(answer);
  std::string text;
  report::Sink sink(text);
  report::write_json(answer, {}, sink);
  sink.flush();
  return nlohmann::json::parse(text);
}

TEST(NativeAotAnswers, EveryVerb) {
  for (const AotShape &shape : all_aot_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const char *verb : {"info", "stat", "objects", "segments", "contract"}) {
      SCOPED_TRACE(verb);
      nlohmann::json answer = ask(shape, verb);
      EXPECT_EQ(answer["target"]["runtime"], "nativeaot");
      EXPECT_EQ(answer["target"]["version"], std::to_string(shape.major + 5) + ".0");
      EXPECT_EQ(answer["target"]["gc"]["server"], shape.server);
      if (answer.contains("completeness")) {
        EXPECT_EQ(answer["completeness"]["complete"], true) << answer["completeness"];
      }
    }
  }
}

// Programs that publish a contract descriptor.
TEST(NativeAotAnswers, EveryVerbWithADescriptor) {
  for (const AotShape &shape : all_n1_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const char *verb : {"info", "stat", "objects", "segments", "contract", "gc", "handles"}) {
      SCOPED_TRACE(verb);
      nlohmann::json answer = ask(shape, verb);
      EXPECT_EQ(answer["target"]["runtime"], "nativeaot");
      EXPECT_EQ(answer["target"]["gc"]["server"], shape.server);
      if (answer.contains("completeness")) {
        EXPECT_EQ(answer["completeness"]["complete"], true) << answer["completeness"];
      }
    }
    nlohmann::json handles = ask(shape, "handles")["tables"]["handles"];
    ASSERT_EQ(handles.size(), 1u);
    EXPECT_EQ(handles[0]["kind"], "strong");
    nlohmann::json contract = ask(shape, "contract");
    EXPECT_EQ(contract["tables"]["descriptors"].size(), 3u);
    EXPECT_NE(contract.dump().find("ManagedTypes"), std::string::npos);
  }
}

TEST(NativeAotAnswers, Rows) {
  nlohmann::json stat = ask({}, "stat");
  ASSERT_EQ(stat["tables"]["types"].size(), 2u);
  EXPECT_EQ(stat["tables"]["types"][0]["type"], "Shop.Node");
  EXPECT_EQ(stat["tables"]["types"][0]["count"], 5);
  EXPECT_TRUE(stat["tables"]["types"][1]["type"].get<std::string>().starts_with("shop!0x"));
  EXPECT_NE(stat["completeness"]["notes"].dump().find("to hold static fields"), std::string::npos);
  EXPECT_EQ(ask({}, "objects")["tables"]["objects"].size(), 6u);
  EXPECT_EQ(ask({}, "segments")["tables"]["segments"].size(), 2u);
  nlohmann::json contract = ask({}, "contract");
  EXPECT_NE(contract.dump().find("GenerationTable"), std::string::npos);
  EXPECT_NE(contract.dump().find("\"published\""), std::string::npos);
}

} // namespace
} // namespace dnheap::test
