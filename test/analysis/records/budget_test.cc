// Budgets as people write them, and what `check` makes of records: against a twin that adds up by itself.
#include "analysis/records/budget.h"
#include "analysis/records/record.h"
#include "analysis/verbs/verbs.h"
#include "support/rows.h"
#include "support/run.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

namespace dnheap::test {
namespace {

std::string budget_problem(const std::string &json) {
  try {
    parse_budget(json, "b.json");
  } catch (const UsageError &error) {
    return error.what();
  }
  return "";
}

TEST(Budget, Limits) {
  const Budget budget = parse_budget(R"({
    "$schema": "https://example.org/budget.json", "comment": "why",
    "totals": {"live_bytes": "1.5GiB", "objects": 7, "growth": {"mapped": "2.5%"}},
    "types": [{"type": "A", "count": 0, "bytes": 10}, {"match": "^B", "each": true, "growth": {"live": 3}}],
    "owners": [{"owner": "static A.b", "retained": "10k"}, {"signature": "7c1e09", "growth": {"objects": "10%"}}],
    "account": [{"group": "malloc", "bytes": "1T"}, {"class": "stacks_in_use", "growth": {"bytes": 0}}]})",
                                     "b.json");
  const std::vector<std::pair<std::string, u64>> expected = {{"totals.live_bytes", 3u << 29},
                                                             {"totals.objects", 7},
                                                             {"totals.growth.mapped", 2500},
                                                             {"types[0].count", 0},
                                                             {"types[0].bytes", 10},
                                                             {"types[1].growth.live", 3},
                                                             {"owners[0].retained", 10240},
                                                             {"owners[1].growth.objects", 10000},
                                                             {"account[0].bytes", u64{1} << 40},
                                                             {"account[1].growth.bytes", 0}};
  std::vector<std::pair<std::string, u64>> found;
  for (const Limit &limit : budget.limits)
    found.emplace_back(limit.place, limit.most);
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(budget.needs_baseline());
  EXPECT_TRUE(budget.limits[5].each);
  EXPECT_EQ(budget.limits[5].pattern, "^B");
  EXPECT_TRUE(budget.limits[2].is_percent);
}

TEST(Budget, WhatIsWrongIsOneLineThatNamesThePlace) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "its JSON is malformed"},
      {"[]", "the budget is not an object, but a list"},
      {"{}", "the budget limits nothing"},
      {R"({"types": {}})", "types is not a list, but an object"},
      {R"({"type": []})", "type is unknown, did you mean 'types'?; known are "},
      {R"({"types": [7]})", "types[0] is not an object, but 7"},
      {R"({"types": [{"type": "A", "cuont": 1}]})", "types[0].cuont is unknown, did you mean 'count'?"},
      {R"({"types": [{"type": "A"}]})", "types[0] limits nothing: it needs count, live, bytes, retained"},
      {R"({"types": [{"count": 1}]})", "types[0] has none of type, match: it needs exactly one"},
      {R"({"types": [{"type": "A", "match": "B", "count": 1}]})", "types[0] has several of type, match"},
      {R"({"types": [{"type": "", "count": 1}]})", "types[0].type is not a text"},
      {R"({"types": [{"type": "A", "each": true, "count": 1}]})", "types[0].each needs \"match\""},
      {R"({"types": [{"match": "A", "each": 1, "count": 1}]})", "types[0].each is neither true nor false"},
      {R"({"types": [{"match": "(", "count": 1}]})", "types[0].match is not a regular expression: missing )"},
      {R"({"types": [{"type": "A", "count": -1}]})", "types[0].count is not a number from 0 on, but -1"},
      {R"({"types": [{"type": "A", "count": 1.5}]})", "types[0].count is not a number from 0 on, but a fraction"},
      {R"({"types": [{"type": "A", "count": "1k"}]})", "types[0].count is not a number from 0 on, but \"1k\""},
      {R"({"types": [{"type": "A", "bytes": "1x"}]})", "types[0].bytes is not a number of bytes, or a size such as"},
      {R"({"types": [{"type": "A", "bytes": "5%"}]})", "types[0].bytes is not a number of bytes"},
      {R"({"types": [{"type": "A", "bytes": 9999999999999999999}]})", "types[0].bytes is not a number of bytes"},
      {R"({"types": [{"type": "A", "growth": 5}]})", "types[0].growth is not an object, but 5"},
      {R"({"types": [{"type": "A", "growth": {"count": "x%"}}]})",
       "types[0].growth.count is not a number from 0 on, or"},
      {R"({"owners": [{"signature": "7c1e", "objects": 1}]})",
       "owners[0].signature is not a signature: 6 to 16 digits"},
      {R"({"owners": [{"owner": "A", "bytes": 1}]})", "owners[0].bytes is unknown; known are owner, signature, match"},
      {R"({"account": [{"class": "malloc_in_us", "bytes": 1}]})", "there are live_objects"},
      {R"({"account": [{"group": "mallok", "bytes": 1}]})", "did you mean 'malloc'?"},
      {R"({"account": [{"class": "objects", "bytes": 1}]})", "account[0].class is not in the account: 'objects'"},
      {R"({"account": [{"match": "x", "bytes": 1}]})", "account[0].match is unknown"},
      {R"({"totals": {"bytes": 1}})", "totals.bytes is unknown"},
      {R"({"totals": {"live_bytes": null}})", "totals.live_bytes is not a number of bytes"},
      {R"({"totals": {"live_bytes": 1}, "totals": {}})", "gives totals twice"},
  };
  for (auto [json, expected] : cases) {
    const std::string problem = budget_problem(json);
    EXPECT_TRUE(problem.starts_with("b.json: ")) << json << problem;
    EXPECT_NE(problem.find(expected), std::string::npos) << json << ": " << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
  }
  EXPECT_NE(budget_problem(std::string(100000, '[')).find("nested deeper"), std::string::npos);
  EXPECT_NE(budget_problem(std::string(2 << 20, ' ')).find("more than 1.0 MiB"), std::string::npos);
}

Record one_record() {
  Record out;
  out.name = "/dumps/core.1";
  out.description = ".NET";
  out.objects = 100, out.bytes = 5000, out.live_objects = 80, out.live_bytes = 4000;
  out.types = {{"Shop.Order", 50, 2000, 40, 3000},
               {"Shop.Line", 20, 500, 20, 500},
               {"System.Collections.Generic.List<Shop.Order>", 3, 100, 2, 100}};
  out.owners = {{"7c1e090000000000", "static", "static Shop.Cache.all", 3000, 60},
                {"b2044f0000000000", "handle", "handle:strong Shop.Line", 500, 20}};
  out.classes = {{"live_objects", "gc", "live", 4000},
                 {"malloc_in_use", "malloc", "malloc", 700},
                 {"malloc_free", "malloc", "malloc", 300}};
  return out;
}

// "FAIL types[0].count 50 40": state, place, value, limit of each row.
std::vector<std::string> outcome_of(const std::vector<Record> &records, const std::string &budget,
                                    Question question = {}) {
  TemporaryFolder folder;
  if (!budget.empty())
    question.budget = folder.write("budget.json", budget);
  if (records.size() > 1)
    question.baseline = "old.json";
  report::Answer answer = answer_check(records, question);
  std::vector<std::string> out;
  u64 exceeded = 0;
  for (TextRow &row : text_rows_of(answer, "checks")) {
    out.push_back(row["state"] + " " + row["place"] + " " + row["value"] + " " + row["limit"]);
    exceeded += row["exceeded"] == "true";
  }
  EXPECT_EQ(answer.exceeded, exceeded);
  return out;
}

using Lines = std::vector<std::string>;

// It has the heap's memory and little else: what is exceeded there is, what is not may be; and from an extract as the
// baseline everything would have grown.
TEST(Check, MemoryOfAnExtractIsNotSure) {
  Record extract = one_record(), whole = one_record();
  extract.is_extract = true;
  const char *budget = R"({"account": [{"group": "malloc", "bytes": 999}, {"class": "malloc_free", "bytes": 300}],
                           "totals": {"mapped": 5000, "live_bytes": 4000}})";
  EXPECT_EQ(outcome_of({extract}, budget),
            (Lines{"FAIL account[0].bytes 1000 999", "ok totals.live_bytes 4000 4000", "UNSURE totals.mapped 5000 5000",
                   "UNSURE account[1].bytes 300 300"}));
  const char *growth = R"({"account": [{"group": "malloc", "growth": {"bytes": 0}}],
                           "totals": {"live_bytes": 4000}})";
  whole.classes[1].bytes = 7000;
  EXPECT_EQ(outcome_of({whole, extract}, growth),
            (Lines{"ok totals.live_bytes 4000 4000", "UNSURE account[0].growth.bytes 7300 1000"}));
  TemporaryFolder folder;
  Question question;
  question.budget = folder.write("budget.json", growth);
  question.baseline = "old.json";
  report::Answer answer = answer_check(std::vector{whole, extract}, question);
  EXPECT_NE(text_rows_of(answer, "checks").back()["text"].find("unknown, because the baseline is an extract"),
            std::string::npos);
  EXPECT_EQ(outcome_of({whole, one_record()}, growth),
            (Lines{"FAIL account[0].growth.bytes 7300 1000", "ok totals.live_bytes 4000 4000"}));
}

TEST(Check, EachKindOfLimit) {
  const std::vector<Record> now = {one_record()};
  auto of = [&](const char *budget) { return outcome_of(now, budget); };
  EXPECT_EQ(of(R"({"types": [{"type": "Shop.Order", "count": 50, "live": 39, "bytes": 2000, "retained": "2k"}]})"),
            (Lines{"FAIL types[0].live 40 39", "FAIL types[0].retained 3000 2048", "ok types[0].count 50 50",
                   "ok types[0].bytes 2000 2000"}));
  EXPECT_EQ(of(R"({"types": [{"type": "List<Order>", "count": 2}]})"), (Lines{"FAIL types[0].count 3 2"}));
  EXPECT_EQ(of(R"({"types": [{"type": "Order", "count": 49}]})"), (Lines{"FAIL types[0].count 50 49"}));
  EXPECT_EQ(of(R"({"types": [{"type": "Shop.Never", "count": 0}]})"), (Lines{"ok types[0].count 0 0"}));
  EXPECT_EQ(of(R"({"types": [{"match": "^Shop", "count": 69}]})"), (Lines{"FAIL types[0].count 70 69"}));
  EXPECT_EQ(of(R"({"types": [{"match": "^Shop", "each": true, "count": 10}]})"),
            (Lines{"FAIL types[0].count 50 10", "FAIL types[0].count 20 10"}));
  EXPECT_EQ(of(R"({"types": [{"match": "^Shop", "each": true, "count": 60}]})"), (Lines{"ok types[0].count 50 60"}));
  EXPECT_EQ(of(R"({"types": [{"match": "^Never", "each": true, "count": 0}]})"), (Lines{"ok types[0].count 0 0"}));
  EXPECT_EQ(
      of(R"({"owners": [{"owner": "static Shop.Cache.all", "objects": 59}, {"signature": "7c1e09", "retained": 2999},
                              {"signature": "7c1e08", "retained": 0}, {"match": "static", "retained": 9000}]})"),
      (Lines{"FAIL owners[0].objects 60 59", "FAIL owners[1].retained 3000 2999", "ok owners[2].retained 0 0",
             "ok owners[3].retained 3000 9000"}));
  EXPECT_EQ(of(R"({"account": [{"group": "malloc", "bytes": 999}, {"class": "malloc_free", "bytes": 300}]})"),
            (Lines{"FAIL account[0].bytes 1000 999", "ok account[1].bytes 300 300"}));
  EXPECT_EQ(
      of(R"({"totals": {"heap_bytes": 4999, "live_bytes": 4000, "mapped": 4999, "objects": 100, "live_objects": 79}})"),
      (Lines{"FAIL totals.heap_bytes 5000 4999", "FAIL totals.mapped 5000 4999", "FAIL totals.live_objects 80 79",
             "ok totals.live_bytes 4000 4000", "ok totals.objects 100 100"}));
}

TEST(Check, PartsOfOwnersAndWhatSeveralHold) {
  Record record = one_record();
  record.owners = {{"5d587f0000000000", "hub", "the container of services", 10, 1},
                   {"5d587f0000000000", "hub", "the container of services", 400, 4, "Shop.OrderBus"},
                   {"7c1e090000000000", "static", "static Shop.Cache.all", 3000, 60},
                   {"7c1e090000000000", "shared", "static Shop.Cache.all", 7000, 70},
                   {"d00d000000000000", "shared", "static Shop.Cart.all", 1, 1}};
  const std::vector<Record> now = {record};
  auto of = [&](const char *budget) { return outcome_of(now, budget); };
  EXPECT_EQ(of(R"({"owners": [{"owner": "the container of services", "retained": 0},
                              {"owner": "the container of services … Shop.OrderBus", "retained": 0},
                              {"signature": "5d587f", "retained": 0}]})"),
            (Lines{"FAIL owners[0].retained 410 0", "FAIL owners[1].retained 400 0", "FAIL owners[2].retained 410 0"}));
  EXPECT_EQ(of(R"_({"owners": [{"owner": "static Shop.Cache.all", "retained": 0},
                               {"owner": "static Shop.Cache.all and others", "retained": 0},
                               {"signature": "7c1e09", "retained": 0}, {"owner": "(shared)", "retained": 0}]})_"),
            (Lines{"FAIL owners[0].retained 10000 0", "FAIL owners[1].retained 10000 0",
                   "FAIL owners[2].retained 10000 0", "FAIL owners[3].retained 7001 0"}));
  EXPECT_EQ(of(R"({"owners": [{"match": "services", "each": true, "retained": 20}]})"),
            (Lines{"FAIL owners[0].retained 400 20"}));
}

TEST(Check, Growth) {
  Record before = one_record(), now = one_record();
  now.types[0].live = 60; // 40 before
  now.types[1].live = 5;  // 20 before
  now.types.push_back({"Shop.New", 9, 9, 9, 9});
  const std::vector<Record> both = {now, before};
  auto of = [&](const char *budget) { return outcome_of(both, budget); };
  EXPECT_EQ(of(R"({"types": [{"type": "Shop.Order", "growth": {"live": 20}}]})"),
            (Lines{"ok types[0].growth.live 60 60"}));
  EXPECT_EQ(of(R"({"types": [{"type": "Shop.Order", "growth": {"live": 19}}]})"),
            (Lines{"FAIL types[0].growth.live 60 59"}));
  EXPECT_EQ(of(R"({"types": [{"type": "Shop.Order", "growth": {"live": "49.9%"}}]})"),
            (Lines{"FAIL types[0].growth.live 60 59"}));
  EXPECT_EQ(of(R"({"types": [{"type": "Shop.Order", "growth": {"live": "50%"}}]})"),
            (Lines{"ok types[0].growth.live 60 60"}));
  EXPECT_EQ(of(R"({"types": [{"type": "Shop.Line", "growth": {"live": 0}}]})"),
            (Lines{"ok types[0].growth.live 5 20"}));
  EXPECT_EQ(of(R"({"types": [{"match": "^Shop", "each": true, "growth": {"live": 5}}]})"),
            (Lines{"FAIL types[0].growth.live 60 45", "FAIL types[0].growth.live 9 5"}));
  EXPECT_EQ(of(R"({"types": [{"match": "^Shop", "growth": {"live": 14}}]})"), (Lines{"ok types[0].growth.live 74 74"}));
  EXPECT_EQ(of(R"({"totals": {"growth": {"live_bytes": 0}}})"), (Lines{"ok totals.growth.live_bytes 4000 4000"}));
  EXPECT_THROW(outcome_of({now}, R"({"totals": {"growth": {"live_bytes": 0}}})"), UsageError);
}

TEST(Check, NoInstancesOf) {
  Question question;
  question.no_instances_of = {"Shop.Order", "Never", "List<Order>"};
  Record record = one_record();
  EXPECT_EQ(outcome_of({record}, "", question),
            (Lines{"FAIL --no-instances-of 40 0", "FAIL --no-instances-of 2 0", "ok --no-instances-of 0 0"}));
  EXPECT_EQ(answer_check(std::vector{record}, question).completeness->notes.sentences(),
            (std::vector<std::string>{"--no-instances-of: no type of that name is known in this dump: Never"}));
  record.types[0].live = 0; // they wait for a collection
  question.no_instances_of = {"Shop.Order"};
  EXPECT_EQ(outcome_of({record}, "", question), (Lines{"ok --no-instances-of 0 0"}));
  EXPECT_TRUE(answer_check(std::vector{record}, question).completeness->notes.empty());
}

TEST(Check, NoFindingsOf) {
  Question question;
  question.no_findings_of = {"deadlock", "many_timers"};
  Record record = one_record();
  EXPECT_THROW(answer_check(std::vector{record}, question), UsageError); // it was taken without
  record.has_findings = true;
  EXPECT_EQ(outcome_of({record}, "", question), (Lines{"ok --no-findings-of 0 0", "ok --no-findings-of 0 0"}));
  record.findings = {{"deadlock", "hang", "certain", "Two wait."},
                     {"lock_contended", "hang", "probable", "Many wait."}};
  EXPECT_EQ(outcome_of({record}, "", question), (Lines{"FAIL --no-findings-of 1 0", "ok --no-findings-of 0 0"}));
  question.no_findings_of = {"any"};
  EXPECT_EQ(outcome_of({record}, "", question), (Lines{"FAIL --no-findings-of 1 0", "FAIL --no-findings-of 1 0"}));
  record.findings = {{"dead_objects", "memory", "probable", "Little is alive."}}; // a healthy program has it, too
  EXPECT_EQ(outcome_of({record}, "", question), (Lines{"ok --no-findings-of 0 0"}));
  question.no_findings_of = {"dead_objects"};
  EXPECT_EQ(outcome_of({record}, "", question), (Lines{"FAIL --no-findings-of 1 0"}));
  question.no_findings_of = {"deadlok"};
  EXPECT_THROW(answer_check(std::vector{record}, question), UsageError);
}

// What is spelled wrong would be within its limit for ever. Nothing of a kind of memory is no such thing.
TEST(Check, LimitsOfWhatIsNotThere) {
  Question question;
  TemporaryFolder folder;
  question.budget =
      folder.write("budget.json", R"({"types": [{"type": "Shop.Ordr", "live": 0}, {"match": "^Shp", "live": 0},
      {"type": "Shop.Order", "live": 100}], "owners": [{"owner": "static Shop.Cache.al", "objects": 1},
      {"signature": "7c1e08", "retained": 0}, {"signature": "7c1e09", "retained": 100000}],
      "account": [{"class": "stacks_in_use", "bytes": 1}], "totals": {"objects": 1000}})");
  const report::Answer answer = answer_check(std::vector{one_record()}, question);
  EXPECT_EQ(answer.exceeded, 0u);
  EXPECT_EQ(answer.unmatched, 4u);
  EXPECT_EQ(answer.completeness->notes.sentences(),
            (std::vector<std::string>{
                "types[0].live: no type of that name is known in this dump: Shop.Ordr",
                "types[1].live: no type's name in this dump matches /^Shp/",
                "owners[0].objects: no owner of that name holds anything in this dump: static Shop.Cache.al",
                "owners[1].retained: no owner here has the signature 7c1e08"}));
  EXPECT_TRUE(answer.completeness->complete());
}

TEST(Check, WhatThereIsToCheck) {
  Question question;
  EXPECT_THROW(answer_check(std::vector{one_record()}, question), UsageError);
  EXPECT_THROW(plan_check(question), UsageError);
  question.record = "new.json";
  report::Answer answer = answer_check(std::vector{one_record()}, question);
  EXPECT_EQ(answer.exceeded, 0u);
  EXPECT_TRUE(text_rows_of(answer, "checks").empty());
  question.budget = "/no/such/budget.json";
  EXPECT_THROW(plan_check(question), UsageError);
}

TEST(Check, AnIncompleteHeapIsSaidSo) {
  Record record = one_record();
  record.complete = false;
  Question question;
  question.no_instances_of = {"Never"};
  report::Answer answer = answer_check(std::vector{record}, question);
  EXPECT_FALSE(answer.completeness->complete());
  EXPECT_NE(answer.completeness->notes.sentences().back().find("may exceed it"), std::string::npos);
  EXPECT_EQ(answer.uncertain, 1u);
  EXPECT_TRUE(answer.lead.starts_with("UNSURE: 1 of 1 limit may be exceeded: all that could be read is within"))
      << answer.lead;
  EXPECT_EQ(text_rows_of(answer, "checks").at(0)["certain"], "false");
  using Write = void (*)(const report::Answer &, const report::WriteOptions &, report::Sink &);
  for (auto [write, expected] :
       {std::pair<Write, const char *>(report::write_junit,
                                       "<skipped message=\"type Never: 0 live instances; as far as"),
        std::pair<Write, const char *>(report::write_junit, "skipped=\"1\""),
        std::pair<Write, const char *>(report::write_github, "::warning title=dnheap check::type Never")}) {
    std::string out;
    report::Sink sink(out);
    write(answer_check(std::vector{record}, question), {}, sink);
    EXPECT_NE(out.find(expected), std::string::npos) << out;
  }
  // A type without a name may be any.
  record = one_record();
  record.types.push_back({"Shop.dll!0x02000123[]", 5, 100, 5, 100});
  answer = answer_check(std::vector{record}, question);
  EXPECT_EQ(answer.uncertain, 1u);
  EXPECT_NE(answer.completeness->notes.sentences().back().find("some types have no names"), std::string::npos);
  EXPECT_EQ(outcome_of({record}, R"({"totals": {"objects": 1000000000}})", {}).at(0).substr(0, 2), "ok");
  record = one_record();
  record.complete = false;
  // What is exceeded is that, whatever is missing; memory is told by another list.
  question.no_instances_of = {"Shop.Order"};
  answer = answer_check(std::vector{record}, question);
  EXPECT_EQ(answer.exceeded, 1u);
  EXPECT_EQ(answer.uncertain, 0u);
  EXPECT_EQ(outcome_of({record}, R"({"totals": {"mapped": "1GiB"}})", {}), (Lines{"ok totals.mapped 5000 1073741824"}));
}

// Random records and limits; the sums told by a loop over all rows.
TEST(Check, AsAddedUp) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    Record records[2];
    for (Record &record : records)
      for (u64 i = random() % 20; i; --i)
        record.types.push_back({"T" + std::to_string(random() % 15), random() % 100, 0, random() % 100, 0});
    const std::string digit = std::to_string(random() % 10);
    const u64 limit = random() % 300;
    const bool growth = random() % 2;
    nlohmann::json entry = {{"match", digit + "$"}};
    if (growth)
      entry["growth"] = {{"live", limit}};
    else
      entry["live"] = limit;
    u64 sums[2] = {0, 0};
    for (int i : {0, 1})
      for (const Record::Type &type : records[i].types)
        if (type.name.ends_with(digit))
          sums[i] += type.live;
    const u64 most = growth ? sums[1] + limit : limit;
    const std::string place = growth ? "types[0].growth.live " : "types[0].live ";
    EXPECT_EQ(
        outcome_of({records[0], records[1]}, nlohmann::json({{"types", {entry}}}).dump()),
        (Lines{(sums[0] > most ? "FAIL " : "ok ") + place + std::to_string(sums[0]) + " " + std::to_string(most)}));
  }
}

} // namespace
} // namespace dnheap::test
