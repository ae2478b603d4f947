#include "base/not_found.h"
#include "report/encoding.h"
#include "report/write.h"
#include "support/golden.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace dnheap::report {
namespace {

using Json = nlohmann::ordered_json;

Cell cell_of(const Json &json) {
  if (json.is_boolean())
    return json.get<bool>();
  if (json.is_number_unsigned())
    return json.get<u64>();
  if (json.is_number_integer())
    return json.get<i64>();
  if (json.is_number())
    return json.get<double>();
  if (json.is_string())
    return json.get<std::string>();
  if (json.is_array()) {
    std::vector<Cell> list;
    for (const Json &item : json)
      list.push_back(cell_of(item));
    return list;
  }
  if (json.is_object()) {
    std::vector<Fact> facts;
    for (const auto &[key, value] : json.items())
      facts.push_back({key, cell_of(value)});
    return facts;
  }
  return {};
}

Row row_of(const Json &json) {
  Row row;
  for (const Json &cell : json)
    row.push_back(cell_of(cell));
  return row;
}

Column column_of(const Json &json) {
  static const std::map<std::string, Kind> kinds = {{"count", Kind::count},
                                                    {"bytes", Kind::bytes},
                                                    {"address", Kind::address},
                                                    {"text", Kind::text},
                                                    {"percent", Kind::percent},
                                                    {"number", Kind::number},
                                                    {"boolean", Kind::boolean},
                                                    {"nested", Kind::nested},
                                                    {"bytes_change", Kind::bytes_change},
                                                    {"count_change", Kind::count_change}};
  static const std::map<std::string, Shown> shown = {
      {"everywhere", Shown::everywhere}, {"in_text", Shown::in_text}, {"in_data", Shown::in_data}};
  return {json.at("key"), json.at("title"), kinds.at(json.at("kind")), shown.at(json.value("shown", "everywhere"))};
}

Table table_of(const Json &json) {
  Table table;
  table.name = json.at("name");
  table.title = json.value("title", "");
  for (const Json &column : json.at("columns"))
    table.columns.push_back(column_of(column));
  std::vector<Row> rows;
  for (const Json &row : json.at("rows"))
    rows.push_back(row_of(row));
  table.set_rows(std::move(rows));
  if (json.contains("total"))
    table.total = row_of(json.at("total"));
  table.notes = json.value("notes", std::vector<std::string>());
  return table;
}

Answer answer_of(const Json &json) {
  Answer answer;
  answer.command = json.at("command");
  answer.headline.what = json.at("headline");
  answer.target = *cell_of(json.at("target")).get_if<std::vector<Fact>>();
  const Json &completeness = json.at("completeness");
  Completeness &told = answer.completeness.emplace();
  told.objects = completeness.at("objects");
  told.bytes = completeness.at("bytes");
  told.bad_objects = completeness.at("bad_objects");
  told.incomplete_records = !completeness.at("complete");
  for (const std::string &note : completeness.at("notes").get<std::vector<std::string>>())
    told.notes.add(note);
  for (const Json &gap : completeness.at("gaps"))
    answer.completeness->gaps.push_back({gap.at("start"), gap.at("end"), gap.at("reason")});
  for (const Json &table : json.at("tables"))
    answer.tables.push_back(table_of(table));
  answer.next_command = json.at("next");
  return answer;
}

// "text top=2 exact": the writer and its options.
std::string write(const std::string &section, const Answer &answer) {
  std::istringstream words(section);
  std::string name, word, out;
  words >> name;
  WriteOptions options;
  while (words >> word) {
    if (word.starts_with("top="))
      options.top = std::stoull(word.substr(4));
    else if (word.starts_with("table="))
      options.table = word.substr(6);
    else
      options.exact = word == "exact";
  }
  Sink sink(out);
  find_writer(name)->write(answer, options, sink);
  return out;
}

TEST(Write, Golden) {
  for (const std::string &path : test::golden_files("report/golden")) {
    test::Golden golden(path);
    Json input = Json::parse(golden.input("answer"));
    for (const test::GoldenSection &section : golden.sections()) {
      if (section.name == "answer")
        continue;
      std::string out = write(section.name, answer_of(input));
      if (section.name.starts_with("json")) {
        EXPECT_TRUE(Json::accept(out)) << out;
      }
      golden.expect(section, out);
    }
    golden.finish();
  }
}

Answer streamed(u64 rows, u64 &pulled) {
  Answer answer;
  answer.command = "objects";
  Table table;
  table.name = "objects";
  table.columns = {{"address", "Address", Kind::address}, {"type", "Type", Kind::text}};
  table.rows = [rows, &pulled, at = u64{0}](Row &row) mutable {
    ++pulled;
    if (at == rows)
      return false;
    row[0] = 0x1000 + at++;
    row[1] = Cell::borrowed("System.String");
    return true;
  };
  answer.tables.push_back(table);
  return answer;
}

TEST(Write, PullsNoMoreRowsThanItNeeds) {
  u64 pulled = 0;
  write("text top=3", streamed(1'000'000, pulled));
  EXPECT_EQ(pulled, 4u); // one more, to say that there are more
  pulled = 0;
  write("json top=3", streamed(1'000'000, pulled));
  EXPECT_EQ(pulled, 4u);
  pulled = 0;
  write("csv top=3", streamed(1'000'000, pulled)); // has no place to say it
  EXPECT_EQ(pulled, 3u);
}

TEST(Write, JsonSaysHowManyRowsItLeftOut) {
  const auto left_out = [](u64 top, bool knows_count, bool is_whole) {
    u64 pulled = 0;
    Answer answer = streamed(10, pulled);
    if (knows_count)
      answer.tables.front().row_count = 10;
    answer.tables.front().whole = is_whole;
    return Json::parse(write("json top=" + std::to_string(top), answer)).value("left_out", Json());
  };
  EXPECT_EQ(left_out(4, true, false), Json({{"objects", 6}}));
  EXPECT_EQ(left_out(4, false, false), Json({{"objects", nullptr}}));
  EXPECT_EQ(left_out(4, true, true), Json());
  for (u64 top : {0, 10, 11})
    EXPECT_EQ(left_out(top, top % 2, false), Json()) << top;
}

TEST(Write, LongTablesStreamWithTheWidthsOfTheFirstBlock) {
  u64 pulled = 0;
  std::string out = write("text", streamed(0x20000, pulled));
  EXPECT_TRUE(out.starts_with("\nAddress  Type\n 0x1000  System.String\n")) << out.substr(0, 80);
  EXPECT_TRUE(out.ends_with("\n0x20fff  System.String\n")) << out.substr(out.size() - 80);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 0x20000 + 2);
}

TEST(Write, UnknownTableIsNamedTogetherWithThoseThatExist) {
  u64 pulled = 0;
  try {
    write("csv table=x", streamed(1, pulled));
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "no table 'x' in the answer of 'objects'; it has: objects");
  }
}

// Formats without a place for it leave it to whoever writes, in one line.
TEST(Write, Unsaid) {
  Answer answer;
  EXPECT_EQ(unsaid(answer), ""); // says nothing of the heap
  answer.completeness.emplace();
  EXPECT_EQ(unsaid(answer), "");
  answer.completeness->notes.add("names are missing");
  EXPECT_EQ(unsaid(answer), "note: names are missing");
  answer.completeness->notes.add("roots are missing");
  answer.completeness->incomplete_records = 1;
  EXPECT_EQ(unsaid(answer), "INCOMPLETE: names are missing; 1 more note with --format json");
  answer.completeness->gaps = {{0x1000, 0x2000, "not in the dump"}, {0x3000, 0x3800, "damaged"}};
  EXPECT_EQ(unsaid(answer), "INCOMPLETE: 6.0 KiB in 2 gaps not walked, the first at 0x1000: not in the dump; 2 more "
                            "notes with --format json");
  answer.completeness.emplace();
  answer.completeness->incomplete_records = 1;
  answer.completeness->bad_objects = 3;
  EXPECT_EQ(unsaid(answer), "INCOMPLETE: 3 bad objects");
  for (const Writer &writer : writers())
    EXPECT_EQ(writer.tells_completeness,
              !std::set<std::string_view>({"csv", "addresses", "folded", "speedscope"}).contains(writer.name))
        << writer.name;
}

TEST(Write, AddressesAlone) {
  Answer answer;
  answer.command = "objects";
  answer.tables.push_back(
      {"objects", "", {{"type", "Type", Kind::text}, {"address", "Address", Kind::address}}, {}, {}, {}, {}});
  const auto written = [&](u64 top) {
    answer.tables.front().set_rows({{"A", u64{0x7f0010}}, {"B", u64{0x7f0020}}, {"C", u64{0x7f0030}}});
    std::string out;
    Sink sink(out);
    WriteOptions options;
    options.top = top;
    write_addresses(answer, options, sink);
    return out;
  };
  EXPECT_EQ(written(0), "0x7f0010\n0x7f0020\n0x7f0030\n");
  EXPECT_EQ(written(2), "0x7f0010\n0x7f0020\n");
  answer.tables.front().columns.pop_back();
  EXPECT_THROW(written(0), NotFound);
  answer.tables.front().name = "types";
  EXPECT_THROW(written(0), NotFound);
}

// Stacks as `stack --merge` and `sample` have them.
Answer with_stacks() {
  Answer answer;
  answer.command = "sample";
  Table table;
  table.name = "stacks";
  table.columns = {{"samples", "", Kind::count}, {"state", "", Kind::text}, {"methods", "", Kind::nested}};
  using List = std::vector<Cell>;
  table.set_rows({{u64{3}, "running", List{"Step;\n", "Loop", "Main"}},
                  {u64{2}, "waiting", List{"Loop", "Main"}},
                  {u64{1}, "waiting", List{}}});
  answer.tables.push_back(std::move(table));
  return answer;
}

TEST(Write, FoldedStacksBeginWithTheOutermostMethod) {
  std::string text;
  Sink sink(text);
  write_folded(with_stacks(), {}, sink);
  EXPECT_EQ(text, "running;Main;Loop;Step,, 3\n"
                  "waiting;Main;Loop 2\n"
                  "waiting;(no managed method) 1\n");
  text.clear();
  WriteOptions one;
  one.top = 1;
  write_folded(with_stacks(), one, sink);
  EXPECT_EQ(text, "running;Main;Loop;Step,, 3\n(other stacks) 3\n");
}

TEST(Write, SpeedscopeNumbersMethodsInTheOrderTheyComeIn) {
  std::string text;
  Sink sink(text);
  write_speedscope(with_stacks(), {}, sink);
  const nlohmann::json profile = nlohmann::json::parse(text);
  std::vector<std::string> names;
  for (const auto &frame : profile["shared"]["frames"])
    names.push_back(frame["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"running", "Main", "Loop", "Step;\n", "waiting", "(no managed method)"}));
  const auto &only = profile["profiles"][0];
  EXPECT_EQ(only["samples"], nlohmann::json::parse("[[0,1,2,3],[4,1,2],[4,5]]"));
  EXPECT_EQ(only["weights"], nlohmann::json::parse("[3,2,1]"));
  EXPECT_EQ(only["endValue"], 6);
}

TEST(Write, StacksWithoutCountsAreRefused) {
  Answer answer;
  answer.command = "stack";
  std::string text;
  Sink sink(text);
  EXPECT_THROW(write_folded(answer, {}, sink), NotFound);
  answer.tables.emplace_back().name = "stacks";
  EXPECT_THROW(write_speedscope(answer, {}, sink), NotFound);
}

TEST(Write, StopsBetweenRowsWhenInterrupted) {
  for (const Writer &writer : writers()) {
    Progress progress;
    Answer answer;
    const bool is_of_stacks = writer.table && writer.table == std::string_view("stacks");
    answer.tables.push_back({writer.table ? writer.table : "t",
                             "",
                             {{"a", "A", is_of_stacks ? Kind::count : Kind::address}, {"methods", "", Kind::nested}},
                             [&](Row &row) {
                               progress.cancel = true;
                               row[0] = 1u;
                               return true;
                             },
                             {},
                             {},
                             {}});
    std::string out;
    Sink sink(out);
    WriteOptions options;
    options.watch.progress = &progress;
    EXPECT_THROW(writer.write(answer, options, sink), Interrupted) << writer.name;
  }
}

TEST(Sink, FullDiskIsOneError) {
  std::FILE *full = std::fopen("/dev/full", "w");
  if (!full)
    GTEST_SKIP() << "no /dev/full here";
  {
    Sink sink(full, "standard output");
    try {
      sink.write("x");
      sink.flush();
      FAIL();
    } catch (const Error &error) {
      EXPECT_STREQ(error.what(), "cannot write to standard output: No space left on device");
    }
  }
  std::fclose(full);
}

} // namespace
} // namespace dnheap::report
