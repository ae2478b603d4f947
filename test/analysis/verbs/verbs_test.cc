// What each verb answers, on small heaps: golden files (golden/*.txt: one heap each, sections are command lines), and
// what must hold between answers whatever the heap.
#include "analysis/verb.h"
#include "report/encoding.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/crashed_heap.h"
#include "support/golden.h"
#include "support/opened.h"
#include "support/places.h"
#include "support/random_heap.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// Every kind of generation; types that tie by count, by bytes, by name; a context; Free objects.
void make_small(HeapBuilder &heap) {
  Address order = heap.type("Shop.Order", 4), line = heap.type("Shop.Line", 2), also_line = heap.type("Shop.Line", 2);
  u32 rid = heap.app().metadata.type("Shop", "List`1");
  heap.app().metadata.generic(token(Table::TypeDef, rid), {"T"});
  Address list = heap.method_table({.rid = rid, .arguments = {order}});
  Address orders = heap.array(order, static_cast<u32>(heap.p));
  heap.segment(G::frozen).string("frozen");
  SegmentWriter &old = heap.segment(G::gen2);
  for (int i = 0; i < 3; ++i)
    old.object(order);
  old.free(200);
  old.object(list);
  heap.segment(G::gen1).object(line);
  heap.segment(G::loh).object(orders, 12000);
  heap.segment(G::poh).object(orders, 2);
  SegmentWriter &young = heap.segment(G::gen0);
  Address first = young.object(line);
  young.string("");
  heap.gc.handles = {{.type = HandleType::strong, .object = old.start},
                     {.type = HandleType::pinned, .object = first},
                     {.type = HandleType::weak_short, .object = old.start},
                     {.type = HandleType::dependent, .object = old.start, .secondary = first},
                     {.type = HandleType::dependent, .object = first},
                     {.type = HandleType::weak_interior_pointer, .object = first, .secondary = 0x7000},
                     {.type = HandleType::strong, .object = 0x12340}};
  GcHeapState &state = heap.gc.heaps[0];
  state.mark_array = 0x5000;
  state.finalize_counts = {0, 1, 2, 0, 3, 1, 2};
  state.compact = {0, 1};
  state.free_regions[0] = {{0x10000, 0x11000}, {0x20000, 0x21000}};
  heap.gc.global_mechanisms = {1, 2};
  heap.threads[0].context = young.context(104);
  young.object(also_line);
  young.string("it's \"quoted\"");
}

// A page is missing, an object is damaged, a name cannot be told, a context lies elsewhere.
void make_incomplete(HeapBuilder &heap) {
  Address order = heap.type("Shop.Order", 4);
  ModuleWriter &lost = heap.module("lost.dll");
  lost.has_image = false;
  Address unnamed = heap.method_table({.rid = 0x123, .module = lost.module});
  SegmentWriter &old = heap.segment(G::gen2);
  for (int i = 0; i < 300; ++i)
    old.object(i % 10 ? order : unnamed);
  heap.hole(old.start + 4800, old.start + 4800 + 4096);
  heap.poke(old.start, 0x1234560, 8);
  heap.global_context = {0x777770, 0x777780};
  heap.structures_invalid = 1;
  heap.gc.handles = {{.type = HandleType::strong, .object = old.start},
                     {.type = HandleType::strong, .object = old.start, .segment = 1}};
  heap.target();
  heap.hole(heap.handle_segments[1].address(), heap.handle_segments[1].end());
}

void make_server(HeapBuilder &heap) {
  Address order = heap.type("Shop.Order", 4);
  for (u32 h = 0; h < heap.shape.heaps; ++h) {
    SegmentWriter &young = heap.ephemeral(h);
    young.object(order);
    young.begin_gen1();
    young.string("gen1");
    young.begin_gen0();
    for (u32 i = 0; i <= h; ++i)
      young.object(order);
    heap.threads[h].context = young.context(64);
  }
  // One table of handles per processor, not per heap.
  heap.gc.processors = 3;
  for (u32 table = 0; table < 3; ++table)
    heap.gc.handles.push_back({.type = HandleType::strong, .object = heap.segments[0].start, .table = table});
  heap.gc.heaps[1].oom = {.reason = 3,
                          .alloc_size = 5 << 20,
                          .gc_index = 7,
                          .fgm = 1,
                          .size = 256 << 20,
                          .available_pagefile_mb = 12,
                          .loh_p = true};
}

// Everything that `path`, `show` and `retained` speak of: two statics with a list each that end in the same object, an
// array, a key with a dependent handle, an object that only a word on a stack names, and garbage.
void make_held(HeapBuilder &heap) {
  const u32 p = static_cast<u32>(heap.p);
  auto field = [&](const char *name, ElementType type) {
    return heap.app().metadata.field(name, field_signature(element(type)));
  };
  Address link =
      heap.method_table({.base_size = 5 * p, .rid = heap.app().metadata.type("Shop", "Link"), .series = {{p, 2 * p}}});
  std::vector<FieldShape> of_link = {{field("_next", ElementType::Object), ElementType::Class, 0},
                                     {field("_item", ElementType::Object), ElementType::Class, p},
                                     {field("_rank", ElementType::I4), ElementType::I4, 2 * p}};
  heap.fields(link, of_link);
  Address shop = heap.type("Shop.Program", 1), links = heap.array(link, p);
  std::vector<FieldShape> of_shop = {{field("s_orders", ElementType::Object), ElementType::Class, 0, true},
                                     {field("s_log", ElementType::Object), ElementType::Class, p, true},
                                     {field("s_table", ElementType::Object), ElementType::Class, 2 * p, true}};
  heap.fields(shop, of_shop);
  SegmentWriter &old = heap.segment(G::gen2);
  auto store = [&](Address object, u64 slot, Address target) { old.store(object + (1 + slot) * p, target, p); };
  Address holder = old.object(heap.object_array_type, 8);
  heap.statics(shop, holder + 2 * p);
  std::vector<Address> orders, log;
  for (int i = 0; i < 5; ++i)
    orders.push_back(old.object(link));
  for (int i = 0; i < 3; ++i)
    log.push_back(old.object(link));
  old.store(orders[2] + 3 * p, 7, 4); // its _rank
  Address shared = old.string("both"), table = old.object(links, 4), key = old.object(link),
          value = old.string("value"), local = old.object(link);
  old.string("garbage");
  for (u64 i = 0; i + 1 < orders.size(); ++i)
    store(orders[i], 0, orders[i + 1]);
  for (u64 i = 0; i + 1 < log.size(); ++i)
    store(log[i], 0, log[i + 1]);
  for (Address one : {orders[1], orders[4], log[2]})
    store(one, 1, shared);
  store(orders[3], 1, old.string("alone"));
  store(table, 3, key);
  store(holder, 1, orders[0]);
  store(holder, 2, log[0]);
  store(holder, 3, table);
  heap.gc.handles = {{.type = HandleType::strong, .object = holder},
                     {.type = HandleType::pinned, .object = shared},
                     {.type = HandleType::dependent, .object = key, .secondary = value}};
  heap.threads[0].registers = {local};
}

struct NamedHeap {
  const char *name;
  HeapShape shape;
  void (*make)(HeapBuilder &heap);
};
const NamedHeap heaps[] = {
    {"small", {}, make_small},
    {"incomplete", {}, make_incomplete},
    {"held", {}, make_held},
    {"crashed", {}, make_crashed},
    {"server", {.format = {4, ByteOrder::big}, .server = true, .heaps = 2, .regions = false}, make_server},
};

std::unique_ptr<Snapshot> open(const NamedHeap &named) {
  HeapBuilder heap(named.shape);
  named.make(heap);
  SnapshotOptions options;
  options.threads = 2;
  return std::make_unique<Snapshot>(heap.target(), options);
}

report::Answer ask(Snapshot &snapshot, const std::string &verb, const Question &question = {}) {
  for (const Verb &v : verbs())
    if (verb == v.name)
      return v.answer(snapshot, question);
  throw std::logic_error("no verb " + verb);
}

// "stat json --type Order --top 2": what the program would print.
std::string run(Snapshot &snapshot, const std::string &command) {
  std::istringstream words(command);
  std::string verb, format, option, value, out;
  words >> verb >> format;
  Question question;
  question.target = "synthetic.core";
  report::WriteOptions options;
  while (words >> option) {
    if (!option.starts_with("--")) {
      question.subject = option;
      continue;
    }
    const std::span<const v0::QuestionOption> all = v0::question_options();
    const auto of_question = std::ranges::find(all, option.substr(2), &v0::QuestionOption::name);
    if (of_question == all.end() || of_question->value)
      words >> value;
    if (of_question != all.end())
      of_question->set(question, option, value);
    else if (option == "--sort")
      question.sort = value;
    else if (option == "--by")
      question.by = value;
    else if (option == "--table")
      options.table = value;
    else if (option == "--width")
      options.width = std::stoull(value);
    else if (option == "--top")
      question.top = options.top = std::stoull(value);
    else
      throw std::logic_error("no option " + option);
  }
  report::Sink sink(out);
  report::find_writer(format)->write(ask(snapshot, verb, question), options, sink);
  return out;
}

void expect_golden(const NamedHeap &named, const std::string &file) {
  Golden golden(test::test_folder() + "/analysis/" + file + ".txt");
  for (const GoldenSection &section : golden.sections())
    golden.expect(section, run(*open(named), section.name));
  golden.finish();
}

TEST(Verbs, Golden) {
  for (const NamedHeap &named : heaps)
    expect_golden(named, std::string("golden/") + named.name);
}

// As they come to a screen, 80 and 120 columns wide.
TEST(Verbs, GoldenScreens) {
  for (const NamedHeap &named : heaps)
    if (named.name != std::string_view("incomplete"))
      expect_golden(named, std::string("golden/screen/") + named.name);
}

// Whatever the verb and the screen: no line of a table is wider.
TEST(Verbs, NoLineOfATableIsWiderThanTheScreen) {
  for (const NamedHeap &named : heaps)
    for (const std::string verb : {"stat", "segments", "objects", "info", "handles", "gc", "roots", "retained",
                                   "report", "account", "threads", "waste", "frag", "strings", "contract"})
      for (u64 width : {40, 80, 120}) {
        SCOPED_TRACE(named.name + (" " + verb) + " at " + std::to_string(width));
        const std::unique_ptr<Snapshot> snapshot = open(named);
        report::Answer answer = ask(*snapshot, verb);
        for (report::Table &table : answer.tables) {
          table.title.clear();
          table.notes.clear();
        }
        answer.headline = {};
        answer.lead = answer.next_command = "";
        answer.completeness.reset();
        report::WriteOptions options;
        options.width = width;
        options.top = 20;
        std::string text;
        report::Sink sink(text);
        report::write_text(answer, options, sink);
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
          ASSERT_TRUE(report::width_of(line) <= width || line.starts_with("…")) << line;
      }
}

std::vector<report::Row> rows_of(report::Table &table) {
  std::vector<report::Row> out;
  for (report::Row row(table.columns.size()); table.rows(row); row = report::Row(table.columns.size()))
    out.push_back(row);
  return out;
}

u64 number(const report::Cell &cell) {
  if (const u64 *value = cell.get_if<u64>())
    return *value;
  return static_cast<u64>(*cell.get_if<i64>());
}

// A verb's answer as rows of numbers and texts by column name.
struct Asked {
  report::Answer answer;
  std::vector<report::Row> rows;

  Asked(Snapshot &snapshot, const std::string &verb, const Question &question = {}, u64 table = 0)
      : answer(ask(snapshot, verb, question)), rows(rows_of(answer.tables.at(table))), table_(table) {}
  u64 column(const char *key) const { return *answer.tables[table_].find_column(key); }
  u64 at(u64 row, const char *key) const { return number(rows.at(row)[column(key)]); }
  std::string text(u64 row, const char *key) const { return std::string(*rows.at(row)[column(key)].text()); }
  u64 sum(const char *key) const {
    u64 out = 0;
    for (u64 i = 0; i < rows.size(); ++i)
      out += at(i, key);
    return out;
  }
  u64 total(const char *key) const { return number((*answer.tables[table_].total)[column(key)]); }

private:
  u64 table_;
};

std::unique_ptr<Snapshot> random_snapshot(const HeapShape &shape, u64 seed) {
  std::mt19937_64 random(seed);
  HeapBuilder heap(shape);
  add_random_heap(heap, 20000, random);
  SnapshotOptions options;
  options.threads = 3;
  return std::make_unique<Snapshot>(heap.target(), options);
}

TEST(Verbs, AllTellTheSameStory) {
  for (const HeapShape &shape : all_shapes()) {
    if (shape.format.pointer_size == 4 && !shape.published)
      continue; // no table is shipped for these
    SCOPED_TRACE(name_of(shape));
    std::unique_ptr<Snapshot> snapshot = random_snapshot(shape, 1);
    Asked stat(*snapshot, "stat"), objects(*snapshot, "objects"), segments(*snapshot, "segments"),
        generations(*snapshot, "segments", {}, 1);
    const report::Completeness &c = *stat.answer.completeness;
    EXPECT_TRUE(c.complete());
    EXPECT_EQ(stat.sum("count"), c.objects);
    EXPECT_EQ(stat.total("count"), c.objects);
    EXPECT_EQ(stat.sum("bytes"), stat.total("bytes"));
    EXPECT_EQ(stat.sum("aligned_bytes"), c.bytes);
    EXPECT_EQ(objects.rows.size(), c.objects);
    EXPECT_EQ(objects.sum("bytes"), stat.total("bytes"));
    EXPECT_EQ(segments.sum("objects") + segments.sum("free_objects"), c.objects);
    EXPECT_EQ(segments.sum("bytes") + segments.sum("free_bytes"), c.bytes);
    EXPECT_EQ(generations.total("bytes"), segments.sum("bytes"));
    EXPECT_EQ(generations.total("segments"), segments.rows.size());
    EXPECT_EQ(generations.total("segment_bytes"), c.bytes + snapshot->heap().context_bytes());
    // By generation, in three ways.
    for (u64 g = 0; g < generation_count; ++g) {
      const char *name = name_of(static_cast<G>(g));
      Question only;
      only.generation = static_cast<v0::Generation>(g);
      Asked of_one(*snapshot, "stat", only), listed(*snapshot, "objects", only), lying(*snapshot, "segments", only);
      EXPECT_EQ(of_one.sum("aligned_bytes"), stat.sum(name)) << name;
      EXPECT_EQ(listed.rows.size(), of_one.sum("count")) << name;
      EXPECT_EQ(lying.sum("bytes") + lying.sum("free_bytes"), stat.sum(name)) << name;
    }
  }
}

// Every object is held by one owner alone, shared, or unreachable; and it is alive or dead.
TEST(Verbs, WhatIsHeldAddsUp) {
  for (const HeapShape &shape : {HeapShape{}, HeapShape{.format = {4, ByteOrder::big}}}) {
    HeapBuilder heap(shape);
    make_held(heap);
    SnapshotOptions options;
    options.threads = 2;
    Snapshot snapshot(heap.target(), options);
    Question live, dead, tree;
    live.life = Life::live;
    dead.life = Life::dead;
    tree.tree = true;
    Asked stat(snapshot, "stat"), alive(snapshot, "stat", live), gone(snapshot, "stat", dead),
        owners(snapshot, "retained"), trees(snapshot, "retained", tree);
    EXPECT_EQ(stat.total("count"), 16u); // no Free among them
    EXPECT_EQ(alive.total("count") + gone.total("count"), stat.total("count"));
    EXPECT_EQ(alive.total("bytes") + gone.total("bytes"), stat.total("bytes"));
    EXPECT_EQ(gone.total("count"), 1u);
    EXPECT_EQ(owners.sum("objects"), stat.total("count"));
    EXPECT_EQ(owners.sum("retained"), stat.total("aligned_bytes"));
    for (u64 i = 0; i < owners.rows.size(); ++i)
      if (owners.text(i, "owner") == "(unreachable)") {
        EXPECT_EQ(owners.at(i, "objects"), 1u);
      }
    u64 top = 0;
    for (u64 i = 0; i < trees.rows.size(); ++i)
      top += trees.at(i, "depth") == 0 ? trees.at(i, "retained") : 0;
    EXPECT_EQ(top, stat.total("aligned_bytes") - gone.total("aligned_bytes"));
    // What an instance below another one retains counts with that one only.
    Asked types(snapshot, "retained", {}, 1);
    for (u64 i = 0; i < types.rows.size(); ++i)
      EXPECT_LE(types.at(i, "objects"), stat.total("count"));
  }
}

TEST(Verbs, WrongSubjects) {
  HeapBuilder heap({});
  make_held(heap);
  Snapshot snapshot(heap.target(), {});
  auto error_of = [&](const char *verb, const char *subject) -> std::string {
    Question question;
    question.subject = subject;
    try {
      ask(snapshot, verb, question);
    } catch (const Error &e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(error_of("show", "Shop.Link"), "'Shop.Link' is not an address such as 0x7f00c0de1234; dnheap objects "
                                           "--type lists those of a type");
  EXPECT_EQ(error_of("show", "0x10"),
            "0x10 is not an object: it lies outside the managed heap (dnheap segments shows where the heap is)");
  EXPECT_EQ(error_of("path", "No.Such"), "no type on this heap is called 'No.Such' or matches it; dnheap stat --type "
                                         "'(?i)…' finds names in upper or lower case");
  EXPECT_EQ(error_of("path", "Face"), "no type on this heap is called 'Face' or matches it; dnheap stat --type "
                                      "'(?i)…' finds names in upper or lower case"); // hexadecimal digits only
  EXPECT_EQ(error_of("path", "("), "no type is called '(', nor is it a regular expression: missing ): (");
  EXPECT_EQ(error_of("path", "00007f00`400001c0"), "none"); // as debuggers write it
}

TEST(Verbs, FiltersAreTheSameForObjectsAndStat) {
  std::unique_ptr<Snapshot> snapshot = random_snapshot({}, 2);
  Asked all(*snapshot, "objects");
  std::vector<Question> questions(5);
  questions[0].type_regex = "Type[1-3]$";
  questions[1].type_exact = "System.String";
  questions[2].min_bytes = 100;
  questions[3].range = std::pair(v0::Address(all.at(10, "address")), v0::Address(all.at(300, "address")));
  questions[4] = questions[3];
  questions[4].type_regex = "\\[\\]";
  questions[4].min_bytes = 60;
  questions[4].generation = v0::Generation::frozen;
  for (u64 i = 0; i < questions.size(); ++i) {
    const Question &q = questions[i];
    Asked stat(*snapshot, "stat", q), objects(*snapshot, "objects", q);
    EXPECT_GT(objects.rows.size(), 0u) << i;
    EXPECT_LT(objects.rows.size(), all.rows.size()) << i;
    EXPECT_EQ(stat.sum("count"), objects.rows.size()) << i;
    EXPECT_EQ(stat.sum("bytes"), objects.sum("bytes")) << i;
    for (u64 row = 0; row < objects.rows.size(); ++row) {
      EXPECT_GE(objects.at(row, "bytes"), q.min_bytes);
      if (q.range) {
        EXPECT_GE(objects.at(row, "address"), q.range->first.value());
        EXPECT_LT(objects.at(row, "address"), q.range->second.value());
      }
    }
  }
  Question wrong;
  wrong.type_regex = "(";
  EXPECT_THROW(ask(*snapshot, "stat", wrong), Error);
}

TEST(Verbs, Orders) {
  std::unique_ptr<Snapshot> snapshot = random_snapshot({}, 3);
  for (const Verb &verb : verbs()) {
    if (!verb.answer || (verb.subject && !verb.subject.is_optional))
      continue; // takes no target, or more than that
    for (std::string_view word : verb.sort_columns) {
      const std::string column(word);
      SCOPED_TRACE(std::string(verb.name) + " --sort " + column);
      Question question;
      question.sort = column;
      Asked asked(*snapshot, verb.name, question);
      for (u64 i = 1; i < asked.rows.size(); ++i) {
        int order = report::compare(asked.rows[i - 1][asked.column(column.c_str())],
                                    asked.rows[i][asked.column(column.c_str())]);
        bool ascending = column == "type" || column == "address" || column == "kind";
        ASSERT_TRUE(ascending ? order <= 0 : order >= 0) << i;
      }
      // The first rows are the same however few of them are asked for.
      for (u64 top : {1, 3, 50}) {
        question.top = top;
        Asked few(*snapshot, verb.name, question);
        for (u64 i = 0; i < std::min<u64>(top, asked.rows.size()); ++i)
          for (u64 k = 0; k < asked.rows[i].size(); ++k)
            ASSERT_EQ(report::compare(few.rows.at(i)[k], asked.rows[i][k]), 0) << "row " << i << " of " << top;
      }
    }
  }
}

TEST(Verbs, TiesAreInOrderOfAddressAndName) {
  std::unique_ptr<Snapshot> snapshot = random_snapshot({}, 4);
  Question question;
  question.sort = "bytes";
  Asked objects(*snapshot, "objects", question);
  for (u64 i = 1; i < objects.rows.size(); ++i)
    if (objects.at(i - 1, "bytes") == objects.at(i, "bytes")) {
      ASSERT_LT(objects.at(i - 1, "address"), objects.at(i, "address"));
    }
  question.sort = "count";
  Asked stat(*snapshot, "stat", question);
  for (u64 i = 1; i < stat.rows.size(); ++i)
    if (stat.at(i - 1, "count") == stat.at(i, "count")) {
      EXPECT_LT(stat.text(i - 1, "type"), stat.text(i, "type"));
    }
}

// Every byte of the heap was walked, but any may be wrong.
TEST(Verbs, ADoubtfulTargetIsNeverComplete) {
  HeapBuilder heap({});
  make_small(heap);
  std::unique_ptr<Target> target = heap.target();
  target->notes.add(Subject::dump, Effect::numbers, "its data are damaged");
  Snapshot snapshot(std::move(target), {});
  report::Answer answer = ask(snapshot, "stat");
  EXPECT_FALSE(answer.completeness->complete());
  EXPECT_TRUE(headline_text(answer).ends_with("INCOMPLETE: see the notes")) << headline_text(answer);
}

} // namespace
} // namespace dnheap::test
