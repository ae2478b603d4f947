// What became of what, from one record to the next: against a twin that looks at one key after the other.
#include "analysis/records/compare.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace dnheap::test {
namespace {

Record record_with(std::vector<Record::Type> types) {
  Record out;
  out.name = "core";
  out.types = std::move(types);
  return out;
}

const Series &series_called(const std::vector<Series> &all, const std::string &name) {
  for (const Series &series : all)
    if (series.name == name)
      return series;
  throw std::logic_error("no series " + name);
}

TEST(Compare, CoursesAndTrends) {
  // Bytes of each type in four records; 0: it has none.
  const std::map<std::string, std::vector<u64>> cases = {
      {"new", {0, 0, 10, 20}},
      {"gone", {5, 5, 1, 0}},
      {"grown", {1, 2, 3, 4}},
      {"grown with pauses", {1, 1, 3, 3}},
      {"up and down", {1, 9, 2, 4}},
      {"shrunk", {9, 8, 7, 1}},
      {"shrunk with pauses", {9, 9, 7, 7}},
      {"steady", {6, 6, 6, 6}},
      {"came and went", {0, 7, 7, 0}},
      {"there and back", {5, 7, 3, 5}},
  };
  std::vector<Record> records;
  for (u64 i = 0; i < 4; ++i) {
    records.push_back(record_with({}));
    for (const auto &[name, bytes] : cases)
      if (bytes[i])
        records[i].types.push_back({name, 1, bytes[i], 1, bytes[i]});
  }
  const Comparison c = compare(records, 0);
  ASSERT_EQ(c.types.size(), cases.size());
  const std::map<std::string, std::pair<Course, Trend>> expected = {
      {"new", {Course::added, Trend::never_shrank}},
      {"gone", {Course::gone, Trend::never_grew}},
      {"grown", {Course::grown, Trend::grew_each_time}},
      {"grown with pauses", {Course::grown, Trend::never_shrank}},
      {"up and down", {Course::grown, Trend::up_and_down}},
      {"shrunk", {Course::shrunk, Trend::shrank_each_time}},
      {"shrunk with pauses", {Course::shrunk, Trend::never_grew}},
      {"steady", {Course::steady, Trend::steady}},
      {"came and went", {Course::gone, Trend::up_and_down}},
      {"there and back", {Course::steady, Trend::up_and_down}},
  };
  for (const auto &[name, told] : expected) {
    const Series &series = series_called(c.types, name);
    EXPECT_EQ(series.bytes, cases.at(name)) << name;
    EXPECT_STREQ(name_of(series.course), name_of(told.first)) << name;
    EXPECT_STREQ(name_of(series.trend), name_of(told.second)) << name;
  }
  EXPECT_EQ(c.types[0].name, "new"); // by 20 bytes
  EXPECT_EQ(c.types[4].name, "shrunk");
  EXPECT_EQ(c.types.back().name, "came and went");
}

// Nothing but the heap is in an extract, so the rest did not go away.
TEST(Compare, MemoryByClassOnlyAmongAlikes) {
  std::vector<Record> records(2);
  for (Record &record : records)
    record.classes = {{"malloc_in_use", "malloc", "malloc", 700}};
  EXPECT_EQ(compare(records, 3600).classes.size(), 1u);
  records[1].is_extract = true;
  EXPECT_TRUE(compare(records, 3600).classes.empty());
  EXPECT_EQ(compare(records, 3600).notes.size(), 2u); // so is waste, which neither has
  records[0].is_extract = true;
  EXPECT_EQ(compare(records, 3600).classes.size(), 1u);
  for (Record &record : records)
    record.is_extract = false;
  records[1].container = "gcdump"; // objects and roots alone
  EXPECT_TRUE(compare(records, 3600).classes.empty());
  auto says_of_sizes = [&] {
    const std::vector<std::string> notes = compare(records, 3600).notes.texts();
    return std::ranges::any_of(notes, [](const std::string &note) { return note.starts_with("sizes in "); });
  };
  EXPECT_TRUE(says_of_sizes());
  records[0].is_extract = true; // even less alike
  EXPECT_TRUE(compare(records, 3600).classes.empty());
  records[0].container = "gcdump";
  EXPECT_EQ(compare(records, 3600).classes.size(), 1u);
  EXPECT_FALSE(says_of_sizes()); // alike in both
}

// A process does not change its runtime, and in containers all have the same id.
TEST(Compare, NoRatesBetweenRuntimes) {
  std::vector<Record> records(2);
  for (u64 i = 0; i < 2; ++i) {
    records[i].pid = 1;
    records[i].taken = 1000 + i * 3600;
    records[i].version = "10.0.14";
  }
  EXPECT_EQ(compare(records, 0).hours[1], 1.0);
  records[0].version = "8.0.33";
  EXPECT_EQ(compare(records, 0).hours[1], std::nullopt);
}

// A .gcdump does not name its runtime, so among dumps of a core's runtime it differs from none.
TEST(Compare, RatesBesideAnUnknownRuntime) {
  std::vector<Record> records(3);
  for (u64 i = 0; i < 3; ++i) {
    records[i].pid = 7;
    records[i].taken = 1000 + i * 3600;
    records[i].version = "10.0.14";
  }
  for (u64 unknown = 0; unknown < 3; ++unknown) {
    std::vector<Record> some = records;
    some[unknown].version.clear();
    EXPECT_EQ(compare(some, 0).hours[2], 2.0) << unknown;
    some[unknown == 2 ? 1 : 2].version = "8.0.33"; // the known ones still have to agree
    EXPECT_EQ(compare(some, 0).hours[2], std::nullopt) << unknown;
  }
}

TEST(Compare, DumpsOfDifferentPrograms) {
  auto notes_of = [](const std::vector<std::string> &first, const std::vector<std::string> &last) {
    std::vector<Record> records(2);
    for (u64 i = 0; i < 2; ++i)
      for (const std::string &name : i ? last : first)
        records[i].owners.push_back({name, "static", name, 100, 1});
    const std::vector<std::string> notes = compare(records, 3600).notes.texts();
    return std::any_of(notes.begin(), notes.end(),
                       [](const std::string &note) { return note.ends_with("are these dumps of one program?"); });
  };
  EXPECT_TRUE(notes_of({"static Shop.Cart.all"}, {"static Bank.Account.all"}));
  EXPECT_TRUE(notes_of({"static Shop.Cart.all", "static System.Console.s_in"},
                       {"static Bank.Account.all", "static System.Console.s_in"}));
  EXPECT_FALSE(notes_of({"static Shop.Cart.all"}, {"static Shop.Cart.all", "static Shop.Cache.all"}));
  EXPECT_FALSE(notes_of({"static Shop.Cart.all"}, {"static System.Console.s_in"})); // not yet, perhaps
  EXPECT_FALSE(notes_of({"thread 1 Shop.Cart.Pay()"}, {"thread 2 Bank.Account.Pay()"}));
}

// Of few names, so that rows meet; some rows of one record have the same key.
std::vector<Record> random_records(std::mt19937_64 &random) {
  std::vector<Record> out(2 + random() % 3);
  for (Record &record : out) {
    auto few = [&](u64 most) { return random() % most; };
    for (u64 i = few(30); i; --i)
      record.types.push_back({"T" + std::to_string(few(20)), few(5), few(1000), few(5), few(1000)});
    for (u64 i = few(30); i; --i)
      record.owners.push_back({"s" + std::to_string(few(20)), "static", "owner", few(1000), few(9)});
    for (u64 i = few(10); i; --i)
      record.classes.push_back({"c" + std::to_string(few(8)), "gc", "text", few(1000)});
  }
  return out;
}

template <class Rows, class Key, class Bytes>
void expect_twin(const std::vector<Record> &records, const std::vector<Series> &found, Rows rows_of, Key key_of,
                 Bytes bytes_of) {
  std::set<std::string> keys;
  for (const Record &record : records)
    for (const auto &row : rows_of(record))
      keys.insert(key_of(row));
  ASSERT_EQ(found.size(), keys.size());
  for (const Series &series : found) {
    EXPECT_EQ(keys.erase(series.key), 1u);
    for (u64 i = 0; i < records.size(); ++i) {
      u64 sum = 0;
      for (const auto &row : rows_of(records[i]))
        if (key_of(row) == series.key)
          sum += bytes_of(row);
      EXPECT_EQ(series.bytes[i], sum) << series.key;
    }
  }
  auto rank = [](const Series &s) { return change_of(s.bytes) > 0 ? 0 : change_of(s.bytes) < 0 ? 1 : 2; };
  for (u64 i = 1; i < found.size(); ++i) {
    EXPECT_LE(rank(found[i - 1]), rank(found[i]));
    if (rank(found[i - 1]) == rank(found[i]) && rank(found[i]) != 2) {
      EXPECT_GE(std::abs(change_of(found[i - 1].bytes)), std::abs(change_of(found[i].bytes)));
    }
  }
}

TEST(Compare, AsKeyByKey) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Record> records = random_records(random);
    const Comparison c = compare(records, 0);
    expect_twin(
        records, c.types, [](const Record &r) { return r.types; }, [](const Record::Type &t) { return t.name; },
        [](const Record::Type &t) { return t.bytes; });
    expect_twin(
        records, c.owners, [](const Record &r) { return r.owners; }, [](const Record::Owner &o) { return o.signature; },
        [](const Record::Owner &o) { return o.retained; });
    expect_twin(
        records, c.classes, [](const Record &r) { return r.classes; }, [](const Record::Class &o) { return o.name; },
        [](const Record::Class &o) { return o.bytes; });
  }
}

// Records of earlier versions have no parts of owners: then none are compared.
TEST(Compare, PartsOfOwners) {
  std::vector<Record> records = {record_with({}), record_with({})};
  for (Record &record : records)
    record.owners = {{"a1", "hub", "the container of services", 10, 1},
                     {"a1", "hub", "the container of services", 300, 3, "Shop.Bus"},
                     {"b2", "static", "static A.all", 50, 5},
                     {"b2", "shared", "static A.all", 70, 7},
                     {"c3", "shared", "static B.all", 7, 1}};
  records[1].owners[1].retained = 900;
  records[1].owners[3].retained = 80;
  using Line = std::tuple<std::string, std::string, u64, u64>;
  auto lines = [&] {
    std::vector<Line> out;
    for (const Series &one : compare(records, 0).owners)
      out.emplace_back(one.what, one.name, one.bytes[0], one.bytes[1]);
    return out;
  };
  for (Record &record : records)
    record.has_parts = true;
  EXPECT_EQ(lines(), (std::vector<Line>{{"a1", "the container of services … Shop.Bus", 300, 900},
                                        {"b2", "static A.all", 120, 130},
                                        {"a1", "the container of services", 10, 10},
                                        {"c3", "static B.all and others", 7, 7}}));
  records[0].has_parts = false;
  records[0].owners = {{"a1", "hub", "the container of services", 310, 4},
                       {"b2", "static", "static A.all", 50, 5},
                       {"d7", "shared", "(shared)", 77, 8}};
  const std::vector<Line> whole = lines();
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(whole[0], (Line{"a1", "the container of services", 310, 910}));
  EXPECT_EQ(std::get<1>(whole[1]), "(shared)");
  EXPECT_EQ(std::get<2>(whole[1]), 77u);
  EXPECT_EQ(std::get<3>(whole[1]), 87u);
  EXPECT_EQ(whole[2], (Line{"b2", "static A.all", 50, 50}));
}

TEST(Compare, WasteByKindTypeAndHolder) {
  std::vector<Record> records = {record_with({}), record_with({})};
  records[0].waste = {{"boxes", "System.Int32", "Shop.A._box", 48, 2}, {"boxes", "System.Int32", "Shop.B._box", 24, 1}};
  records[1].waste = {{"boxes", "System.Int32", "Shop.B._box", 240, 10},
                      {"duplicate_strings", "System.String", "Shop.A._name", 100, 3}};
  for (Record &record : records)
    record.has_waste = true;
  const Comparison c = compare(records, 0);
  ASSERT_EQ(c.waste.size(), 3u);
  EXPECT_EQ(c.waste[0].name, "Shop.B._box"); // what grew most
  EXPECT_EQ(c.waste[0].kind, "boxes");
  EXPECT_EQ(c.waste[0].what, "System.Int32");
  EXPECT_EQ(c.waste[0].bytes, (std::vector<u64>{24, 240}));
  EXPECT_EQ(c.waste[0].counts, (std::vector<u64>{1, 10}));
  EXPECT_EQ(c.waste[1].course, Course::added);
  EXPECT_EQ(c.waste[2].course, Course::gone);
  records[0].has_waste = false; // saved by an earlier version: nothing is new for that
  const Comparison without = compare(records, 0);
  EXPECT_TRUE(without.waste.empty());
  EXPECT_TRUE(std::any_of(without.notes.begin(), without.notes.end(),
                          [](const Note &note) { return note.text.find("waste is not in core") != note.text.npos; }));
}

TEST(Compare, WhatRecordsClaimDoesNotOverflow) {
  constexpr u64 most = u64{1} << 62;
  std::vector<Record> records = {record_with({}), record_with({})};
  for (int i = 0; i < 8; ++i)
    records[1].types.push_back({"T", most, most, most, most});
  const Comparison c = compare(records, 0);
  EXPECT_EQ(c.types[0].bytes[1], ~u64{0});
  EXPECT_EQ(change_of(c.types[0].bytes), std::numeric_limits<i64>::max());
  std::swap(records[0], records[1]);
  EXPECT_EQ(change_of(compare(records, 0).types[0].bytes), -std::numeric_limits<i64>::max());
}

TEST(Compare, HoursAndWhyThereAreNone) {
  std::vector<Record> records(3);
  for (Record &record : records)
    record.name = "/dumps/core", record.clock = "dump", record.pid = 7, record.has_waste = true;
  auto with = [&](std::vector<std::optional<u64>> times, u64 interval = 0) {
    for (u64 i = 0; i < 3; ++i)
      records[i].taken = times[i];
    return compare(records, interval);
  };
  EXPECT_EQ(with({3600, 7200, 18000}).hours, (std::vector<std::optional<double>>{0, 1, 4}));
  EXPECT_TRUE(with({3600, 7200, 18000}).notes.empty());
  EXPECT_EQ(with({{}, 7200, {}}, 1800).hours, (std::vector<std::optional<double>>{0, 0.5, 1}));
  EXPECT_EQ(with({3600, {}, 18000}).hours, (std::vector<std::optional<double>>{0, {}, 4}));
  const std::vector<std::optional<double>> none(3);
  EXPECT_TRUE(with({7200, 7200, 7200}).is_too_close); // within a second
  EXPECT_TRUE(with({7200, 7200, 7259}).is_too_close);
  EXPECT_EQ(with({7200, 7200, 7259}).notes.size(), 1u);
  EXPECT_FALSE(with({7200, 7200, 7260}).is_too_close);
  EXPECT_FALSE(with({7200, 7200, 7259}, 10).is_too_close); // as the user says
  Comparison c = with({3600, 18000, 7200});
  EXPECT_EQ(c.hours, none);
  EXPECT_EQ(c.notes.size(), 1u);
  c = with({{}, 1, 2});
  EXPECT_EQ(c.hours, none);
  EXPECT_EQ(c.notes.size(), 1u);
  records[1].clock = "file";
  c = with({1, 2, 300});
  EXPECT_TRUE(c.hours[2]);
  EXPECT_EQ(c.notes.size(), 1u);
  records[2].pid = 8; // another process
  EXPECT_EQ(with({1, 2, 3}).hours, none);
  EXPECT_TRUE(with({1, 2, 3}, 60).hours[2]);
  EXPECT_THROW(compare(std::span(records).first(1), 0), UsageError);
}

} // namespace
} // namespace dnheap::test
