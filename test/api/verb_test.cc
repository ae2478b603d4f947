// Verbs by way of the public interface: the same answers as the library's own, as values and as text, and what is
// refused.
#include "analysis/verb.h"
#include "api/state.h"
#include "dnheap/dnheap.h"
#include "report/write.h"
#include "support/random_heap.h"
#include "support/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace dnheap::test {
namespace {

struct Asked {
  std::mt19937_64 random{21};
  HeapBuilder heap{{}};
  std::vector<Address> objects;

  Asked() {
    add_random_heap(heap, 1 << 18, random);
    for (const WrittenObject &object : heap.objects)
      if (object.method_table != heap.free_type)
        objects.push_back(object.address);
    heap.gc.handles.push_back({.type = HandleType::strong, .object = objects[0]});
  }
  v0::Snapshot open() {
    SnapshotOptions options;
    options.threads = 2;
    return v0::State::snapshot(std::make_unique<Snapshot>(heap.target(), options));
  }
};

TEST(ApiVerb, AnswersAreThoseOfTheLibrary) {
  Asked asked;
  u64 verbs = 0;
  for (const v0::Verb &verb : v0::verbs()) {
    SCOPED_TRACE(std::string(verb.name));
    if (!verb.needs_target || verb.makes_file || verb.takes_records)
      continue;
    ++verbs;
    v0::Question question;
    question.target = "the target";
    if (!verb.subject.empty() && !verb.subject_is_optional)
      question.subject = verb.name == "query" ? "select * from objects" : v0::Address(asked.objects[0]).text();
    question.top = 5;
    v0::Snapshot snapshot = asked.open();
    SnapshotOptions options;
    options.threads = 2;
    Snapshot inside(asked.heap.target(), options);
    Question same;
    same.target = question.target;
    same.subject = question.subject;
    same.top = question.top;
    report::WriteOptions few;
    few.top = 5;
    for (const v0::Format &format : v0::formats()) {
      if (format.table)
        continue; // of other verbs' answers
      const v0::Answer answer = v0::ask(snapshot, verb.name, question);
      EXPECT_EQ(answer.command(), verb.name);
      for (const Verb &of : dnheap::verbs())
        if (of.name == verb.name) {
          std::string expected;
          report::Sink sink(expected);
          report::find_writer(format.name)->write(dnheap::ask(of, inside, same), few, sink);
          EXPECT_EQ(answer.text(format.name, {.top = 5}), expected);
        }
    }
  }
  EXPECT_GE(verbs, 11u);
}

TEST(ApiVerb, NotesAreData) {
  Asked asked;
  v0::Snapshot snapshot = asked.open();
  u64 notes = 0;
  for (const char *verb : {"stat", "threads", "locks", "roots"}) {
    SCOPED_TRACE(verb);
    const v0::Answer answer = v0::ask(snapshot, verb);
    const v0::Completeness completeness = *answer.completeness();
    const std::string json = answer.text("json");
    bool has_effect = false;
    for (const v0::Note &note : completeness.notes) {
      has_effect |= note.effect != "none";
      EXPECT_NE(json.find("{\"subject\":\"" + note.subject + "\",\"effect\":\"" + note.effect + "\""), json.npos)
          << note.text;
      EXPECT_FALSE(note.text.empty());
      ++notes;
    }
    EXPECT_EQ(completeness.complete, !has_effect);
  }
  EXPECT_GT(notes, 0u);
}

TEST(ApiVerb, RowsAreValues) {
  Asked asked;
  v0::Snapshot snapshot = asked.open();
  const v0::Answer answer = v0::ask(snapshot, "stat");
  EXPECT_TRUE(answer.completeness()->complete);
  const v0::Table types = answer.table("types");
  std::map<std::string, u64> counts, expected;
  u64 columns = types.columns().size();
  types.for_each_row([&](const v0::Row &row) {
    EXPECT_EQ(row.size(), columns);
    counts[std::string(*row["type"].text())] += *row["count"].number();
    EXPECT_EQ(row["count"].kind(), v0::Value::Kind::integer);
    EXPECT_EQ(row["count"].text(), std::nullopt);
    EXPECT_EQ(row["count"].real(), static_cast<double>(*row["count"].number()));
    EXPECT_THROW(row["no such"], NotFound);
    EXPECT_TRUE(row[columns].is_absent());
    return true;
  });
  for (const v0::TypeTally &type : snapshot.heap().types())
    expected[type.type.name()] += type.total.count;
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(types.row_count(), snapshot.heap().types().size());
  u64 rows = 0;
  v0::ask(snapshot, "stat").table("types").for_each_row([&](const v0::Row &) { return ++rows < 2; });
  EXPECT_EQ(rows, 2u);
  EXPECT_THROW(answer.table("no such"), NotFound);
  bool has_path = false;
  for (const auto &[key, value] : answer.facts())
    has_path |= key == "path" && value.text() == "synthetic.core";
  EXPECT_TRUE(has_path);
}

// Records are asked as dumps are, whether taken or read.
TEST(ApiVerb, RecordsAreCompared) {
  Asked asked;
  v0::Snapshot snapshot = asked.open();
  const v0::Record taken = v0::Record::of(snapshot);
  EXPECT_EQ(taken.name(), "synthetic.core");
  const std::string json = taken.answer().text("json");
  const v0::Record records[] = {taken, v0::Record::parse(json, "saved.json")};
  EXPECT_EQ(records[1].answer().text("json"), v0::Record::parse(json, "saved.json").answer().text("json"));
  const v0::Answer answer = v0::ask_records("diff", records);
  u64 rows = 0;
  answer.table("types").for_each_row([&](const v0::Row &row) {
    EXPECT_EQ(row["state"].text(), "steady");
    return ++rows;
  });
  EXPECT_GT(rows, 3u);
  v0::Question never;
  never.no_instances_of = {"Random.Never"};
  EXPECT_EQ(v0::ask_records("check", std::span(records).first(1), never).exceeded(), 0u);
  never.no_instances_of = {"Random.Type2[,]"}; // of which a handle holds one
  const v0::Answer checked = v0::ask_records("check", std::span(records).first(1), never);
  EXPECT_EQ(checked.exceeded(), 1u);
  EXPECT_NE(checked.text("junit").find("failures=\"1\""), std::string::npos);
  EXPECT_THROW(answer.text("junit"), UsageError);
  EXPECT_THROW(v0::ask_records("check", records, {}), UsageError);
  EXPECT_THROW(v0::ask(snapshot, "diff"), UsageError);
  EXPECT_THROW(v0::ask_records("diff", std::span(records).first(1)), UsageError);
  EXPECT_THROW(v0::ask_records("stat", records), UsageError);
  EXPECT_THROW(v0::ask_records("diff", records, {.sort = "no such"}), UsageError);
  TemporaryFolder folder;
  EXPECT_EQ(v0::Record::open(folder.write("saved.json", json)).name(), folder.path("saved.json"));
  auto error_of = [&](const std::string &text) -> std::string {
    try {
      v0::Record::open(folder.write("bad.json", text));
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("{}"), folder.path("bad.json") + ": this is not a valid record: it has no \"command\"");
  EXPECT_TRUE(error_of("no dump").starts_with(folder.path("bad.json") + ": not a dump"));
}

TEST(ApiVerb, NestedValuesHaveParts) {
  Asked asked;
  v0::Snapshot snapshot = asked.open();
  v0::Question question;
  question.subject = v0::Address(asked.objects[0]).text();
  u64 paths = 0;
  v0::ask(snapshot, "path", question).table("paths").for_each_row([&](const v0::Row &row) {
    ++paths;
    const v0::Value root = row["root"], steps = row["steps"];
    EXPECT_EQ(root.kind(), v0::Value::Kind::record);
    EXPECT_FALSE(root.find("kind").is_absent());
    EXPECT_TRUE(root.find("no such").is_absent());
    EXPECT_EQ(steps.kind(), v0::Value::Kind::list);
    EXPECT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].find("address").text(), question.subject);
    EXPECT_TRUE(steps[7].is_absent());
    EXPECT_EQ(steps[0].key(0), "address");
    return true;
  });
  EXPECT_EQ(paths, 1u);
}

TEST(ApiVerb, WhatAVerbDoesNotTakeIsRefused) {
  Asked asked;
  v0::Snapshot snapshot = asked.open();
  auto error_of = [&](std::string_view verb, auto change) -> std::string {
    v0::Question question;
    change(question);
    try {
      v0::ask(snapshot, verb, question);
    } catch (const UsageError &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("statt", [](v0::Question &) {}), "there is no verb 'statt', did you mean 'stat'?");
  EXPECT_EQ(error_of("segments", [](v0::Question &q) { q.type_exact = "A"; }),
            "'segments' does not take the option 'type-exact'");
  EXPECT_EQ(error_of("gc", [](v0::Question &q) { q.life = v0::Life::live; }), "'gc' does not take the option 'live'");
  EXPECT_NE(error_of("stat", [](v0::Question &q) { q.subject = "0x10"; }), "");
  EXPECT_NE(error_of("stat", [](v0::Question &q) { q.sort = "no such"; }), "");
  EXPECT_NE(error_of("stat", [](v0::Question &q) { q.type_regex = "["; }), "");
  EXPECT_NE(error_of("ps", [](v0::Question &) {}), "");
  EXPECT_NE(error_of("extract", [](v0::Question &) {}), "");
  EXPECT_NE(error_of("extract", [](v0::Question &q) { q.output = "/no/such/file"; }), "");
  EXPECT_THROW(v0::ask_alone("stat"), UsageError);
  EXPECT_THROW(v0::ask(snapshot, "stat").text("xml"), UsageError);
  EXPECT_THROW(v0::ask(snapshot, "stat").text("json", {.table = "no such"}), NotFound);
  EXPECT_EQ(v0::pattern_problem("byte[]"), std::nullopt);
  EXPECT_EQ(v0::pattern_problem("^A.*"), std::nullopt);
  EXPECT_NE(v0::pattern_problem("("), std::nullopt);
}

TEST(ApiVerb, WrittenToAFileAndToAPipeThatIsClosed) {
  Asked asked;
  v0::Snapshot snapshot = asked.open();
  TemporaryFolder folder;
  std::FILE *file = std::fopen(folder.path("answer").c_str(), "wb");
  EXPECT_TRUE(v0::ask(snapshot, "info").write("json", {}, file, "the file"));
  std::fclose(file);
  EXPECT_EQ(read_file(folder.path("answer")), v0::ask(snapshot, "info").text("json"));

  v0::make_streams_safe();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  std::FILE *closed = fdopen(ends[1], "wb");
  EXPECT_FALSE(v0::ask(snapshot, "info").write("json", {}, closed, "the pipe"));
  std::fclose(closed);
}

TEST(ApiVerb, TextsForPeople) {
  EXPECT_EQ(v0::bytes_text(861 << 20), "861.0 MiB");
  EXPECT_EQ(v0::count_text(46077786), "46,077,786");
  EXPECT_EQ(v0::printable_text("a\x1b[31mb"), "a?[31mb");
}

} // namespace
} // namespace dnheap::test
