#include "support/rows.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dnheap {
namespace {

using nlohmann::json;
using test::HeapBuilder;

std::string line_of(HeapBuilder &heap, const Question &question = {}) {
  report::Answer answer = test::answer_of(heap, "summary", question);
  std::string out;
  report::Sink sink(out);
  report::write_ndjson(answer, {}, sink);
  return out;
}

u64 sum(const json &rows, const char *key) {
  u64 out = 0;
  for (const json &row : rows)
    out += row[key].get<u64>();
  return out;
}

// So many types, each with an object that a handle holds, of long names with letters that JSON has to escape.
void add_types(HeapBuilder &heap, int count) {
  test::SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
  for (int i = 0; i < count; ++i)
    heap.gc.handles.push_back({.type = HandleType::strong,
                               .object = old.object(heap.type("Shop." + std::string(400, '"') + std::to_string(i),
                                                              static_cast<u64>(i % 7 + 1)))});
}

TEST(Summary, IsOneLineOfBoundedSizeWhoseSumsClose) {
  HeapBuilder heap({});
  add_types(heap, 300);
  const std::string line = line_of(heap);
  EXPECT_LT(line.size(), 65536u);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const json record = json::parse(line);
  EXPECT_EQ(record["schema"], "dnheap-summary/1");
  EXPECT_EQ(record["types_count"], 300);
  ASSERT_EQ(record["types"].size(), 51u);
  EXPECT_EQ(record["types"][50]["type"], "(rest)");
  EXPECT_EQ(sum(record["types"], "count"), 300u);
  report::Answer stat = test::answer_of(heap, "stat");
  u64 bytes = 0;
  for (const test::TextRow &row : test::text_rows_of(stat, "types"))
    bytes += std::stoull(row.at("bytes"));
  EXPECT_EQ(sum(record["types"], "bytes"), bytes);
  EXPECT_EQ(sum(record["owners"], "objects"), 300u);
}

TEST(Summary, TopSaysHowMany) {
  HeapBuilder heap({});
  add_types(heap, 60);
  Question question;
  question.top = 3;
  question.top_is_asked = true;
  const json few = json::parse(line_of(heap, question));
  EXPECT_EQ(few["types"].size(), 4u);
  EXPECT_EQ(sum(few["types"], "count"), 60u);
  question.top = 0;
  const json all = json::parse(line_of(heap, question));
  EXPECT_EQ(all["types"].size(), 60u);
}

TEST(Summary, OfATargetThatCannotBeReadThereIsTheReason) {
  report::Answer answer;
  answer.command = "summary";
  answer.target = {{"path", "a\xff.core"}};
  answer.error = "a.core: it is \"odd\"";
  std::string line;
  report::Sink sink(line);
  report::write_ndjson(answer, {}, sink);
  const json record = json::parse(line);
  EXPECT_EQ(record["error"], answer.error);
  EXPECT_FALSE(record.contains("completeness"));
}

} // namespace
} // namespace dnheap
