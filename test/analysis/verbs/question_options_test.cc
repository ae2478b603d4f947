// The options of a question, as each of them is written.
#include "analysis/question.h"
#include "base/error.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using v0::QuestionOption;

const QuestionOption &option(std::string_view name) {
  return *std::ranges::find(v0::question_options(), name, &QuestionOption::name);
}

std::string error_of(std::string_view name, std::string_view value, Question question = {}) {
  try {
    option(name).set(question, "--" + std::string(name), value);
  } catch (const UsageError &error) {
    return error.what();
  }
  return "";
}

// What the test of `api` and the command line refuse rests on that.
TEST(QuestionOptions, EachIsAskedOnceItIsSetAndNotBefore) {
  std::vector<std::string_view> names;
  for (const QuestionOption &one : v0::question_options()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(std::ranges::count(names, one.name), 0);
    names.push_back(one.name);
    Question question;
    for (const QuestionOption &other : v0::question_options())
      EXPECT_FALSE(other.is_asked(question)) << other.name;
    const std::string_view value = one.value ? one.value : "";
    one.set(question, one.name,
            one.words            ? one.words().front()
            : value == "SIZE"    ? "10k"
            : value == "A-B"     ? "0x10-0x20"
            : value == "ADDRESS" ? "0x10"
            : value == "DIR"     ? "."
            : value == "N"       ? "7"
            : value == "TIME"    ? "90s"
                                 : "Shop");
    for (const QuestionOption &other : v0::question_options())
      EXPECT_EQ(other.is_asked(question), &other == &one) << other.name;
  }
}

TEST(QuestionOptions, Ranges) {
  auto range = [](std::string_view text) {
    Question question;
    option("range").set(question, "--range", text);
    return std::pair(question.range->first.value(), question.range->second.value());
  };
  EXPECT_EQ(range("0x7f00-0x8000"), std::pair(u64{0x7f00}, u64{0x8000}));
  EXPECT_EQ(range("0n32512-0n32768"), std::pair(u64{0x7f00}, u64{0x8000}));
  EXPECT_EQ(range("0-ffffffffffffffff"), std::pair(u64{0}, ~u64{0}));
  for (const char *wrong : {"", "-", "1-", "-1", "2-1", "1-1", "0x-1", "1-2-3", "g-h", "0-10000000000000000"})
    EXPECT_EQ(error_of("range", wrong), std::string("--range: '") + wrong + "' is not a range such as 0x7f00-0x8000");
}

TEST(QuestionOptions, ListsOfFields) {
  Question question;
  option("fields").set(question, "--fields", "_state,_customer._name");
  option("fields").set(question, "--fields", "<Pair<a,b>>k__BackingField");
  EXPECT_EQ(question.fields, (std::vector<std::string>{"_state", "_customer._name", "<Pair<a,b>>k__BackingField"}));
  for (const char *wrong : {"", ",", "_state,", ",_state", "a,,b"})
    EXPECT_EQ(error_of("fields", wrong),
              std::string("--fields: '") + wrong + "' is not a list of fields such as _state,_customer._name");
  EXPECT_EQ(error_of("by-field", ""), "--by-field: '' is not a field such as _state");
}

TEST(QuestionOptions, WhatIsWrongIsNamed) {
  EXPECT_EQ(error_of("gen", "LOH"), "");
  EXPECT_EQ(error_of("gen", "2"), "");
  EXPECT_EQ(error_of("gen", "3"), "--gen: '3' is none of gen0, gen1, gen2, loh, poh, frozen");
  EXPECT_EQ(error_of("refers-to", "younger"), "");
  EXPECT_EQ(error_of("refers-to", "older").substr(0, 24), "--refers-to: 'older' is ");
  Question dead;
  dead.life = Life::dead;
  EXPECT_EQ(error_of("live", "", dead), "--live and --dead exclude each other");
  EXPECT_EQ(error_of("dead", "", dead), "");
  EXPECT_EQ(error_of("near", "Shop"), "--near: 'Shop' is not an address such as 0x7ff3ad1a15d8");
  EXPECT_EQ(error_of("min", "1z"), "--min: '1z' is not a size such as 4096, 10k or 1.5GiB");
  EXPECT_EQ(error_of("symbols", "/no/such"), "--symbols: '/no/such' is not a folder");
}

} // namespace
} // namespace dnheap::test
