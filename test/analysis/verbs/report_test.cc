// Which tables `report` shows to people.
#include "support/library_heap.h"
#include "support/opened.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

bool has_table(const report::Answer &answer, std::string_view name) {
  return std::ranges::any_of(answer.tables, [&](const report::Table &one) { return one.name == name; });
}

// Where little is alive, its owners are the runtime's own, and nobody's question.
TEST(Report, OwnersOfLittleAreLeftOut) {
  LibraryHeap s({});
  s.heap.gc.handles = {{.type = HandleType::strong, .object = s.array({s.old.object(s.heap.object_type)})}};
  Question question;
  question.target = "core";
  const report::Answer brief = answer_of(s.heap, "report", question);
  EXPECT_FALSE(has_table(brief, "suspects_text"));
  EXPECT_TRUE(has_table(brief, "suspects")); // for scripts
  EXPECT_EQ(brief.next_command, "dnheap threads core");
  question.top = 5, question.top_is_asked = true;
  EXPECT_TRUE(has_table(answer_of(s.heap, "report", question), "suspects_text"));
}

TEST(Report, OwnersOfMuchAreShown) {
  LibraryHeap s({});
  const Address large = s.old.object(s.heap.object_array_type, 200'000);
  s.heap.gc.handles = {{.type = HandleType::strong, .object = large}};
  Question question;
  question.target = "core";
  const report::Answer answer = answer_of(s.heap, "report", question);
  EXPECT_TRUE(has_table(answer, "suspects_text"));
  EXPECT_EQ(answer.next_command, "dnheap path core @1");
}

} // namespace
} // namespace dnheap::test
