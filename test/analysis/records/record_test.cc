// Records of synthetic processes in all formats: what they have is what `retained`, `stat` and `account` say; what
// `diff` makes of a pair; and hostile JSON in place of a record.
#include "analysis/owners/signature.h"
#include "analysis/records/compare.h"
#include "analysis/records/record.h"
#include "analysis/verbs/verbs.h"
#include "snapshot/snapshot.h"
#include "support/held_by_static.h"
#include "support/known_stacks.h"
#include "support/opened.h"
#include "support/random_heap.h"
#include "support/rows.h"

#include <gtest/gtest.h>
#include <set>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

SnapshotOptions of_two_threads() {
  SnapshotOptions out;
  out.threads = 2;
  return out;
}

// Orders in an array that a handle holds; settings that another one holds; and dead ones.
struct OrderBook {
  OrderBook(const HeapShape &shape, u64 orders, u64 dead) : heap(shape) {
    give_stacks(heap);
    const u64 p = heap.p;
    order = heap.type("Shop.Order", 3);
    settings = heap.type("Shop.Settings", 2);
    SegmentWriter &old = heap.segment(G::gen2);
    const Address list = old.object(heap.object_array_type, orders);
    for (u64 i = 0; i < orders; ++i)
      old.store(list + 2 * p + i * p, old.object(order), p);
    for (u64 i = 0; i < dead; ++i)
      old.object(order);
    heap.gc.handles = {{.type = HandleType::strong, .object = list},
                       {.type = HandleType::pinned, .object = old.object(settings)}};
  }
  Record record() {
    Snapshot snapshot(heap.target(), of_two_threads());
    return take_record(snapshot);
  }
  u64 order_size() const { return heap.size_of(order, 0); }

  HeapBuilder heap;
  Address order = 0, settings = 0;
};

bool is_describable(const HeapShape &shape) {
  return shape.format.pointer_size != 4 || shape.published; // else no table is shipped
}

TEST(Record, OfAPairInAllFormats) {
  for (const HeapShape &shape : type_layouts()) {
    if (!is_describable(shape))
      continue;
    SCOPED_TRACE(name_of(shape));
    OrderBook before(shape, 100, 7), after(shape, 250, 7);
    const std::vector<Record> records = {before.record(), after.record()};
    report::Answer answer = answer_diff(records, {});
    const bool is_complete = answer_of(before.heap, "retained").completeness->complete();
    EXPECT_EQ(answer.completeness->complete(), is_complete);
    EXPECT_EQ(headline_text(answer).ends_with("; complete"), is_complete);
    u64 orders = 0, settings = 0;
    for (TextRow &row : text_rows_of(answer, "types")) {
      if (row["type"] == "Shop.Order") {
        ++orders;
        EXPECT_EQ(row["count_change"], "150");
        EXPECT_EQ(row["live_before"], "100");
        EXPECT_EQ(row["live_after"], "250");
        EXPECT_EQ(row["state"], "grown");
      }
      if (row["type"] == "Shop.Settings") {
        ++settings;
        EXPECT_EQ(row["change"], "0");
        EXPECT_EQ(row["state"], "steady");
      }
    }
    EXPECT_EQ(orders, 2u); // for people and for data
    EXPECT_EQ(settings, 1u);
    const u64 each = before.order_size() + before.heap.p; // and its element
    const Comparison comparison = compare(records, 0);
    const Series &most = comparison.owners.at(0);
    EXPECT_EQ(most.name, "handle:strong System.Object[]");
    EXPECT_EQ(change_of(most.bytes), static_cast<i64>((150 * each + 7) / 8 * 8));
    EXPECT_EQ(change_of(most.counts), 150);
    for (const Series &owner : comparison.owners)
      if (owner.name != most.name) {
        EXPECT_EQ(owner.course, Course::steady) << owner.name;
      }
    EXPECT_EQ(change_of(comparison.live.counts), 150);
  }
}

// Text has a column for each dump as long as they stand on a screen; data have the whole series, of bytes and counts.
TEST(Record, SeveralDumpsHaveAColumnEach) {
  std::vector<Record> records(6);
  for (u64 i = 0; i < records.size(); ++i) {
    records[i].has_waste = records[i].has_parts = true;
    records[i].types = {{"Shop.Order", 3 + i, 1000 * (i + 1), 1, 1}, {"Shop.Item", 7, 500, 1, 1}};
    records[i].owners = {{"a1", "static", "static Shop.All", 2000 * (i + 1), 20 + i}};
    records[i].waste = {{"boxes", "System.Int32", "Shop.A._box", 24 * i, i}};
  }
  auto table_of = [](const report::Answer &answer, std::string_view name) -> const report::Table & {
    return *std::ranges::find(answer.tables, name, &report::Table::name);
  };
  for (u64 count = 2; count <= 6; ++count) {
    report::Answer answer = answer_diff(std::span(records).first(count), {});
    const report::Table &table = table_of(answer, "types"); // for people
    for (u64 i = 1; i + 1 < count; ++i) {
      const u64 column = table.column("in_" + std::to_string(i + 1));
      EXPECT_EQ(*table.total->at(column).get_if<u64>(), 1000 * (i + 1) + 500);
      EXPECT_EQ(table.columns[column].shown, report::Shown::in_text);
      EXPECT_EQ(column, table.column("before") + i);
    }
    EXPECT_EQ(table.column("after"), table.column("before") + count - 1);
    std::string bytes, counts, objects, boxes;
    for (u64 i = 0; i < count; ++i) {
      const std::string gap = i ? " " : "";
      bytes += gap + std::to_string(1000 * (i + 1));
      counts += gap + std::to_string(3 + i);
      objects += gap + std::to_string(20 + i);
      boxes += gap + std::to_string(i);
    }
    auto expect_row = [&](const char *of, const TextRow &expected) {
      const std::vector<TextRow> rows = text_rows_of(answer, of);
      EXPECT_TRUE(std::ranges::any_of(rows,
                                      [&](const TextRow &row) {
                                        return std::ranges::all_of(expected, [&](const auto &cell) {
                                          return row.at(cell.first) == cell.second;
                                        });
                                      }))
          << of << " of " << count;
    };
    expect_row("types", {{"series", bytes}, {"count_series", counts}});
    expect_row("owners", {{"objects_series", objects}});
    expect_row("waste", {{"count_series", boxes}});
  }
  records.push_back(records.back());
  EXPECT_FALSE(table_of(answer_diff(records, {}), "types").find_column("in_2")); // too many for a screen
}

// Only the rows of the table that is asked for are made; but where that is missing, an error can name what there is.
TEST(Record, OneTableOfTheDifferenceAlone) {
  std::vector<Record> records(2);
  for (Record &record : records) {
    record.has_parts = true;
    record.types = {{"Shop.Order", 3, 1000, 1, 1}};
    record.owners = {{"a1", "static", "static Shop.All", 2000, 20}};
  }
  auto tables_for = [&](const char *table) {
    Question question;
    question.table = table;
    std::set<std::string> names;
    for (const report::Table &each : answer_diff(records, question).tables)
      names.insert(each.name);
    return names;
  };
  const std::set<std::string> all = {"owners", "types", "dumps"};
  EXPECT_EQ(tables_for(""), all);
  for (const char *table : {"owners", "types", "dumps"})
    EXPECT_EQ(tables_for(table), std::set<std::string>{table});
  for (const char *missing : {"account", "waste"})
    EXPECT_EQ(tables_for(missing), all) << missing;
}

// Two static fields hold arrays that share an item; a third one has a container with two services of one type and one
// of another.
TEST(Record, WhatSeveralHoldAndWhatTheContainerHasAreParts) {
  for (const Format format : all_formats) {
    HeapBuilder heap({.format = format, .signed_app = true});
    const u32 p = static_cast<u32>(heap.p);
    auto type = [&](const std::string &space, const std::string &name) {
      return heap.method_table(
          {.base_size = 5 * p, .rid = heap.app().metadata.type(space, name), .series = {{p, 3 * p}}});
    };
    const Address provider = type("Microsoft.Extensions.DependencyInjection", "ServiceProvider"),
                  scope = type("Microsoft.Extensions.DependencyInjection.ServiceLookup", "ServiceProviderEngineScope"),
                  bus = type("Shop", "Bus"), cache = type("Shop", "Cache"), item = type("Shop", "Item");
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    const Address a = old.object(heap.object_array_type, 1), b = old.object(heap.object_array_type, 1),
                  host = old.object(heap.object_array_type, 1), of_a = old.object(item), shared = old.object(item),
                  container = old.object(provider), root = old.object(scope),
                  buses[] = {old.object(bus), old.object(bus)}, caches = old.object(cache), cached = old.object(item);
    const std::pair<Address, Address> references[] = {
        {a + 2 * p, of_a},         {of_a + p, shared},     {b + 2 * p, shared},
        {host + 2 * p, container}, {container + p, root},  {root + p, buses[0]},
        {root + 2 * p, buses[1]},  {root + 3 * p, caches}, {caches + p, cached}};
    for (const auto &[slot, object] : references)
      old.store(slot, object, p);
    hold_by_static(heap, "Shop.A", a);
    hold_by_static(heap, "Shop.B", b);
    hold_by_static(heap, "System.Host", host);
    Snapshot snapshot(heap.target(), SnapshotOptions{});
    const Record record = take_record(snapshot);
    EXPECT_TRUE(record.has_parts);
    std::map<std::string, u64> objects;
    std::map<std::string, std::set<std::string>> signatures;
    for (const Record::Owner &owner : record.owners) {
      objects[owner.full_name()] = owner.objects;
      signatures[owner.signature].insert(owner.full_name());
    }
    EXPECT_EQ(objects["static Shop.A.s_all"], 1u);
    EXPECT_EQ(objects["static Shop.B.s_all and others"], 1u); // the shorter way
    EXPECT_FALSE(objects.contains("(shared)"));
    EXPECT_EQ(objects["the container of services"], 2u);
    EXPECT_EQ(objects["the container of services … Shop.Bus"], 2u);
    EXPECT_EQ(objects["the container of services … Shop.Cache"], 2u);
    EXPECT_EQ(signatures[signature("static Shop.B.s_all", {})],
              std::set<std::string>{"static Shop.B.s_all and others"});
    EXPECT_EQ(signatures[signature("the container of services", {})].size(), 3u);
  }
}

// A container that holds nothing but itself: no part of it is missing, and none is made up.
TEST(Record, AContainerWithoutServices) {
  for (const char *of : {"Shop.Program", "System.Host"}) {
    HeapBuilder heap({.signed_app = true});
    const u32 p = static_cast<u32>(heap.p);
    const Address provider = heap.method_table(
        {.base_size = 3 * p,
         .rid = heap.app().metadata.type("Microsoft.Extensions.DependencyInjection", "ServiceProvider")});
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    const Address array = old.object(heap.object_array_type, 1), container = old.object(provider);
    old.store(array + 2 * p, container, p);
    hold_by_static(heap, of, array);
    Snapshot snapshot(heap.target(), SnapshotOptions{});
    u64 objects = 0;
    for (const Record::Owner &owner : take_record(snapshot).owners) {
      EXPECT_EQ(owner.part, "");
      objects += owner.objects;
    }
    EXPECT_EQ(objects, 2u); // the array, too
  }
}

// All figures of a record are those of other verbs.
TEST(Record, SaysWhatOtherVerbsSay) {
  std::mt19937_64 random(9);
  HeapBuilder heap({});
  add_random_heap(heap, 1 << 17, random);
  for (u64 i = 0; i < heap.objects.size(); i += 50)
    if (heap.objects[i].method_table != heap.free_type)
      heap.gc.handles.push_back(
          {.type = i % 100 ? HandleType::strong : HandleType::pinned, .object = heap.objects[i].address});
  Snapshot snapshot(heap.target(), of_two_threads());
  const Record record = take_record(snapshot);
  std::map<std::string, std::pair<u64, u64>> types, live, owners, found;
  report::Answer stat = answer_of(heap, "stat");
  for (TextRow &row : text_rows_of(stat, "types"))
    if (row["type"] != "Free") {
      types[row["type"]].first += std::stoull(row["count"]);
      types[row["type"]].second += std::stoull(row["bytes"]);
    }
  Question only_live;
  only_live.life = Life::live;
  report::Answer alive = answer_of(heap, "stat", only_live);
  for (TextRow &row : text_rows_of(alive, "types"))
    live[row["type"]].first += std::stoull(row["count"]);
  for (const Record::Type &type : record.types) {
    found[type.name] = {type.count, type.bytes};
    EXPECT_EQ(type.live, live[type.name].first) << type.name;
  }
  EXPECT_EQ(found, types);
  report::Answer retained = answer_of(heap, "retained");
  for (TextRow &row : text_rows_of(retained, "owners")) {
    auto &[bytes, objects] = owners[row["kind"] == "shared" ? "(shared)" : row["signature"]];
    bytes += std::stoull(row["retained"]);
    objects += std::stoull(row["objects"]);
  }
  found.clear();
  for (const Record::Owner &owner : record.owners) {
    auto &[bytes, objects] = found[owner.kind == "shared" ? "(shared)" : owner.signature];
    bytes += owner.retained;
    objects += owner.objects;
  }
  EXPECT_EQ(found, owners);
  std::map<std::string, u64> by_type, of_record;
  for (TextRow &row : text_rows_of(retained, "types"))
    by_type[row["type"]] = std::stoull(row["retained"]);
  for (const Record::Type &type : record.types)
    if (type.retained)
      of_record[type.name] = type.retained;
  EXPECT_EQ(of_record, by_type);
  std::map<std::string, u64> waste, of_waste;
  report::Answer wasted = answer_of(heap, "waste", only_live);
  for (TextRow &row : text_rows_of(wasted, "waste"))
    of_waste[row["kind"] + row["what"] + row["field"]] += std::stoull(row["bytes"]) << 20 | std::stoull(row["count"]);
  for (const Record::Waste &one : record.waste)
    waste[one.kind + one.what + one.field] += one.bytes << 20 | one.count;
  EXPECT_TRUE(record.has_waste);
  EXPECT_FALSE(waste.empty());
  EXPECT_EQ(waste, of_waste);
  std::map<std::string, u64> classes, of_account;
  report::Answer account = answer_of(heap, "account", only_live);
  for (TextRow &row : text_rows_of(account, "account"))
    if (row["class"] != "reserved")
      of_account[row["class"]] = std::stoull(row["bytes"]);
  for (const Record::Class &one : record.classes)
    classes[one.name] = one.bytes;
  EXPECT_EQ(classes, of_account);
}

std::string json_of(const Record &record) {
  std::string out;
  report::Sink sink(out);
  report::write_json(answer_of(record), {}, sink);
  return out;
}

TEST(Record, ComesBackFromJson) {
  OrderBook book({}, 10, 3);
  Record record = book.record();
  record.taken = 1790000000;
  record.clock = "dump";
  record.notes.add("some \"note\"\n");
  record.name = "/some/folder/core.1";
  const std::string json = json_of(record);
  EXPECT_EQ(json.find("/some/folder"), json.npos);
  EXPECT_EQ(json.find("\"0x"), json.npos); // no addresses
  EXPECT_TRUE(looks_like_record(json));
  const Record again = parse_record(json, "core.1");
  EXPECT_EQ(json_of(again), json);
  EXPECT_TRUE(again.is_saved);
  EXPECT_EQ(again.taken, record.taken);
  EXPECT_EQ(again.notes, record.notes);
  const Comparison same = compare(std::vector<Record>{record, again}, 0);
  for (const auto *all : {&same.owners, &same.types, &same.classes, &same.waste})
    for (const Series &series : *all)
      EXPECT_EQ(series.course, Course::steady);
}

std::string problem_of(const std::string &json) {
  try {
    parse_record(json, "saved.json");
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Record, HostileJsonIsAnErrorThatNamesThePlace) {
  OrderBook book({}, 2, 1);
  const std::string json = json_of(book.record());
  ASSERT_EQ(problem_of(json), "");
  auto changed = [&](const std::string &from, const std::string &to) {
    std::string out = json;
    const std::size_t at = out.find(from);
    EXPECT_NE(at, out.npos) << from;
    return out.replace(at, from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {changed("\"command\":\"record\"", "\"command\":\"stat\""), "is not what dnheap check --record writes"},
      {changed("\"schema\":\"dnheap/1\"", "\"schema\":7"), "schema is not a text, but 7"},
      {changed("\"owners\":[", "\"owner\":["), "tables has no \"owners\""},
      {changed("\"retained\":", "\"retained\":-"), "must be a non-negative integer, but is -"},
      {changed("\"retained\":", "\"retained\":9999999999999999999"), "tables.owners[0].retained"},
      {changed("\"retained\":", "\"retained\":1e"), "must be a non-negative integer, but is a fraction"},
      {changed("\"complete\":", "\"complete\":1,\"x\":"), "completeness.complete is neither true nor false"},
      {changed("\"notes\":[", "\"notes\":[[],"), "completeness.notes[0] is not a text, but a list"},
      {std::string(100000, '['), "nested deeper than 64"},
      {"{\"a\":1,\"a\":2}", "gives a twice"},
      {"", "malformed"},
      {"{}", "has no \"command\""},
      {json + "x", "malformed"},
  };
  for (const auto &[text, expected] : cases)
    EXPECT_NE(problem_of(text).find(expected), std::string::npos) << problem_of(text);
  for (std::size_t size = 0; size + 2 < json.size(); size += 1 + json.size() / 500)
    EXPECT_NE(problem_of(json.substr(0, size)), "") << size;
}

TEST(Record, OfAnEarlierVersion) {
  OrderBook book({}, 2, 1);
  std::string json = json_of(book.record());
  const std::size_t at = json.find("\"waste\":");
  ASSERT_NE(at, json.npos);
  const Record record = parse_record(json.replace(at, 7, "\"spare\""), "old.json");
  EXPECT_FALSE(record.has_waste);
  EXPECT_FALSE(record.types.empty());
}

TEST(Record, PassesAreForeseen) {
  OrderBook book({}, 20, 5);
  std::vector<PassTime> times;
  SnapshotOptions options = of_two_threads();
  options.watch.times = &times;
  Snapshot snapshot(book.heap.target(), options);
  snapshot.foresee(plan_record().foreseen());
  take_record(snapshot);
  const std::vector<std::string_view> names = plan_record().names();
  for (const PassTime &time : times)
    EXPECT_TRUE(time.name == "module files" || std::find(names.begin(), names.end(), time.name) != names.end())
        << time.name;
}

} // namespace
} // namespace dnheap::test
