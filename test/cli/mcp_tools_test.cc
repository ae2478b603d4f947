#include "cli/mcp_tools.h"
#include "dnheap/error.h"

#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

using mcp::Json;

const Verb stat = {.name = "stat",
                   .question = "which types?",
                   .takes = {Takes::type, Takes::hubs, Takes::values, Takes::symbols, Takes::life},
                   .sort_columns = {"bytes", "count"},
                   .tables = {"types"}};
const Verb path = {.name = "path", .question = "why?", .subject = "ADDR", .subject_asked = "which object?"};
const Verb diff = {.name = "diff", .question = "what grew?", .takes_records = true, .takes_several = true};
const Verb summary = {
    .name = "summary", .question = "what is kept?", .tables = {"summary"}, .takes_each = true, .format = "ndjson"};
const Verb check = {.name = "check", .question = "within?", .takes = {Takes::limits}, .takes_records = true};
const Verb extract = {.name = "extract", .question = "small?", .makes_file = true};
const Verb ps = {.name = "ps", .question = "which?", .needs_target = false};

const std::vector<std::string> one = {"a.core"}, two = {"a.core", "b.core"};

std::string words(const Verb &verb, const char *arguments, const std::vector<std::string> &names = one,
                  bool values = false) {
  std::string out;
  for (const std::string &word : words_of_call(verb, Json::parse(arguments), names, values).words)
    out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string error_of(const Verb &verb, const char *arguments, const std::vector<std::string> &names = one) {
  try {
    return "no error: " + words(verb, arguments, names);
  } catch (const UsageError &error) {
    return error.what();
  }
}

TEST(McpTools, FollowFromRows) {
  const Verb all[] = {stat, path, diff, summary, check, extract, ps};
  auto names_of = [](const std::vector<mcp::Tool> &tools) {
    std::string out;
    for (const mcp::Tool &tool : tools)
      out += tool.name + " ";
    return out;
  };
  EXPECT_EQ(names_of(mcp_tools(all, one, false)), "stat path summary ");
  EXPECT_EQ(names_of(mcp_tools(all, two, false)), "stat path diff summary ");
  const Json schema = mcp_tools(all, two, false)[0].input_schema, of_values = mcp_tools(all, two, true)[0].input_schema;
  EXPECT_EQ(schema["properties"]["sort"]["enum"], Json::array({"bytes", "count"}));
  EXPECT_EQ(schema["properties"]["live"]["type"], "boolean");
  EXPECT_EQ(schema["properties"]["hub"]["type"], "array");
  EXPECT_EQ(schema["required"], Json::array({"file"}));
  for (const char *none : {"values", "symbols", "output", "format", "modules", "max_memory", "pid"})
    EXPECT_FALSE(schema["properties"].contains(none)) << none;
  EXPECT_TRUE(of_values["properties"].contains("values"));
  EXPECT_EQ(mcp_tools(all, one, false)[1].input_schema["required"], Json::array({"subject"}));
}

TEST(McpTools, ArgumentsBecomeWords) {
  EXPECT_EQ(words(stat, "{}"), "--top=20 -- stat 0");
  EXPECT_EQ(words(stat, R"({"top": 3, "type": "--output=x", "hub": ["A", "B"], "live": true, "file": "b.core"})", two),
            "--top=3 --type=--output=x --hub=A --hub=B --live -- stat 1");
  EXPECT_EQ(words(stat, R"({"live": false})"), "--top=20 -- stat 0");
  EXPECT_EQ(words(stat, R"({"values": true})", one, true), "--values --top=20 -- stat 0");
  EXPECT_EQ(words(path, R"({"subject": "--output=x"})"), "--top=20 -- path 0 --output=x");
  EXPECT_EQ(words(diff, R"({"files": ["b.core", "a.core"]})", two), "--top=20 -- diff 1 0");
}

TEST(McpTools, WhatIsWrongIsSaid) {
  EXPECT_EQ(error_of(stat, "{}", two), "which file? The files are: a.core, b.core");
  EXPECT_EQ(error_of(stat, R"({"file": 7})"), "there is no such file; the files are: a.core");
  EXPECT_EQ(error_of(stat, R"({"values": true})"), "'stat' takes no 'values': dnheap mcp was started without --values");
  EXPECT_EQ(error_of(stat, R"({"max_memory": "1k"})"), "'stat' takes no 'max_memory'");
  EXPECT_EQ(error_of(stat, R"({"subject": "x"})"), "'stat' takes no 'subject'");
  EXPECT_EQ(error_of(stat, R"({"live": 1})"), "'live' needs true or false");
  EXPECT_EQ(error_of(stat, R"({"type": ["x"]})"), "'type' is neither a text nor a whole number");
  EXPECT_EQ(error_of(stat, R"({"top": 10001})"), "'top' needs a number from 1 to 10000");
  EXPECT_EQ(error_of(stat, R"({"\u001b[31m": 1})"), "'stat' takes no '?[31m'");
}

TEST(McpTools, NamesOfTargetsAreShortWhereTheyDiffer) {
  EXPECT_EQ(names_of_targets({"/a/x", "/a/y", "/b/x", "z", "/c/"}),
            (std::vector<std::string>{"/a/x", "y", "/b/x", "z", "/c/"}));
}

TEST(McpTools, RowsBeyondTopAreSaid) {
  Json answer = {{"tables", Json::object()}, {"left_out", {{"a", 1200}, {"b", nullptr}}}};
  EXPECT_EQ(left_out_text(answer),
            "there are 1,200 more rows of 'a', more rows of 'b'; ask with a larger 'top' for these");
  answer.erase("left_out");
  EXPECT_EQ(left_out_text(answer), "");
}

TEST(McpTools, LongAnswersLoseLastRows) {
  Json answer = {{"tables", {{"short", Json::array({1, 2})}, {"long", Json::array()}}}};
  for (int i = 0; i < 1000; ++i)
    answer["tables"]["long"].push_back(i);
  Json same = answer;
  EXPECT_EQ(cut_to_size(same, 1 << 20), "");
  EXPECT_EQ(same, answer);
  EXPECT_EQ(cut_to_size(answer, 1000).substr(0, 75),
            "the answer was too large and was cut: it has only 250 of 1000 rows of 'long");
  EXPECT_LE(answer.dump().size(), 1000u);
  EXPECT_EQ(answer["tables"]["long"][249], 249);
  EXPECT_EQ(answer["tables"]["short"].size(), 2u);
  cut_to_size(answer, 1); // whatever is left
  Json doubtful = {{"completeness", {{"gaps", Json::array()}, {"notes", Json::array()}}},
                   {"tables", {{"t", Json::array({1})}}}};
  for (int i = 0; i < 30; ++i) {
    doubtful["completeness"]["gaps"].push_back(std::string(50, 'g'));
    doubtful["completeness"]["notes"].push_back(std::string(500, 'n'));
  }
  const std::string cut = cut_to_size(doubtful, 3000);
  EXPECT_NE(cut.find("of 30 rows of 'notes'"), std::string::npos) << cut;
  EXPECT_LE(doubtful.dump().size(), 3000u);
  EXPECT_EQ(doubtful["tables"]["t"].size(), 1u);
}

// Of verbs that answer each target by itself.
TEST(TakesEach, SeveralTargetsAndAFormatOfItsOwn) {
  const Verb all[] = {stat, summary};
  auto parse = [&](std::vector<std::string_view> arguments) { return parse_options(arguments, all); };
  const Options options = parse({"summary", "a", "b"});
  EXPECT_EQ(options.targets, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options.format->name, std::string("ndjson"));
  EXPECT_EQ(parse({"summary", "a", "--format", "json"}).format->name, std::string("json"));
  EXPECT_EQ(parse({"stat", "a"}).format->name, std::string("text"));
  EXPECT_THROW(parse({"summary"}), UsageError);
  EXPECT_THROW(parse({"stat", "a", "--format", "ndjson"}), UsageError);
}

} // namespace
} // namespace dnheap::cli
