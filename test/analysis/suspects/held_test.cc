// Who holds what, and what would be freed with it: every verb that tells it says the same of the same object, above all
// where words on stacks, which may be chance, stand beside roots that are certain.
#include "analysis/verb.h"
#include "base/text.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/graphs.h"
#include "support/heap_builder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

report::Answer ask(Snapshot &snapshot, const std::string &verb, const Question &question) {
  for (const Verb &v : verbs())
    if (verb == v.name) {
      v.plan(question); // refuses what excludes each other
      return v.answer(snapshot, question);
    }
  throw std::logic_error("no verb " + verb);
}

// Rows of one table, cells by key.
using Cells = std::map<std::string, report::Cell>;

std::vector<Cells> rows_of(report::Answer &answer, const std::string &name) {
  std::vector<Cells> out;
  for (report::Table &table : answer.tables) {
    if (table.name != name || table.shown == report::Shown::in_text)
      continue;
    for (report::Row row(table.columns.size()); table.rows(row); row = report::Row(table.columns.size())) {
      Cells &cells = out.emplace_back();
      for (u64 i = 0; i < row.size(); ++i)
        cells[table.columns[i].key] = row[i];
    }
  }
  return out;
}

std::vector<Cells> rows_of(Snapshot &snapshot, const std::string &verb, const Question &question,
                           const std::string &table) {
  report::Answer answer = ask(snapshot, verb, question);
  return rows_of(answer, table);
}

u64 number(const report::Cell &cell) { return cell.get_if<u64>() ? *cell.get_if<u64>() : ~u64{0}; }
bool flag(const report::Cell &cell) { return cell.get_if<bool>() && *cell.get_if<bool>(); }

// What a verb says of one object.
struct Held {
  bool at_all = false, by_chance = false;
  u64 bytes = 0;
  bool operator==(const Held &) const = default;
};
std::ostream &operator<<(std::ostream &to, const Held &held) {
  return to << (!held.at_all ? "garbage" : held.by_chance ? "by chance, " : "held, ") << held.bytes;
}

bool is_conservative(const report::Cell &root) {
  for (const report::Fact &fact : *root.get_if<std::vector<report::Fact>>())
    if (std::string_view(fact.key) == "conservative")
      return flag(fact.value);
  throw std::logic_error("a root that does not say whether it is certain");
}

// Objects of a type each, which refer to each other anyhow; handles to some, words in registers that name some.
struct HeldHeap {
  HeapBuilder heap{{}};
  std::vector<Address> objects;

  explicit HeldHeap(u64 seed) {
    constexpr u64 count = 30, fields = 3;
    GraphDice dice(seed);
    const u64 p = heap.p;
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    for (u64 i = 0; i < count; ++i) {
      Address type = heap.method_table({.base_size = static_cast<u32>((2 + fields + dice(4)) * p),
                                        .rid = heap.app().metadata.type("Shop", type_name(i)),
                                        .series = {{p, fields * p}}});
      objects.push_back(old.object(type));
    }
    for (Address object : objects)
      for (u64 slot = 0; slot < fields; ++slot)
        if (dice(5) < 2)
          old.store(object + (1 + slot) * p, objects[dice(count)], p);
    for (u64 i = 0; i < 2; ++i)
      heap.gc.handles.push_back({.type = HandleType::strong, .object = objects[dice(count)]});
    for (u64 i = 0; i < 3; ++i)
      heap.threads[i % 2].registers.push_back(objects[dice(count)]);
  }
  static std::string type_name(u64 i) { return "Type" + std::to_string(i) + "Of30"; }
};

TEST(Held, EveryVerbSaysTheSame) {
  u64 precise = 0, by_chance = 0, garbage = 0, both = 0;
  for (u64 seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    HeldHeap made(seed);
    SnapshotOptions options;
    options.threads = 1;
    Snapshot snapshot(made.heap.target(), options);
    Question question;
    std::map<Address, u64> by_address;
    std::map<std::string, u64> by_type, by_stat;
    for (const Cells &row : rows_of(snapshot, "retained", question, "objects"))
      by_address[number(row.at("address"))] = number(row.at("retained"));
    for (const Cells &row : rows_of(snapshot, "retained", question, "types"))
      by_type[std::string(*row.at("type").text())] = number(row.at("retained"));
    Question by = question, live = question, dead = question;
    by.by = "retained";
    live.life = Life::live;
    dead.life = Life::dead;
    for (const Cells &row : rows_of(snapshot, "stat", by, "types"))
      by_stat[std::string(*row.at("type").text())] = number(row.at("retained"));
    u64 chance_here = 0, garbage_here = 0;
    for (u64 i = 0; i < made.objects.size(); ++i) {
      const std::string type = "Shop." + HeldHeap::type_name(i);
      SCOPED_TRACE(type);
      question.subject = hex(made.objects[i]);
      Cells shown = rows_of(snapshot, "show", question, "object").at(0);
      const Held expected{flag(shown["reachable"]), flag(shown["conservative"]),
                          flag(shown["reachable"]) ? number(shown["retained"]) : 0};
      chance_here += expected.by_chance;
      garbage_here += !expected.at_all;
      std::vector<Cells> path = rows_of(snapshot, "path", question, "paths");
      EXPECT_EQ((Held{!path.empty(), !path.empty() && is_conservative(path[0]["root"]), expected.bytes}), expected);
      question.all = true;
      bool certain = false, chance = false;
      for (Cells &row : rows_of(snapshot, "path", question, "paths"))
        (is_conservative(row["root"]) ? chance : certain) = true;
      EXPECT_EQ(certain || chance, expected.at_all);
      EXPECT_EQ(!certain && chance, expected.by_chance);
      both += certain && chance;
      question.no_stacks = true;
      std::vector<Cells> not_on_stacks = rows_of(snapshot, "path", question, "paths");
      EXPECT_EQ(!not_on_stacks.empty(), certain);
      for (Cells &row : not_on_stacks)
        EXPECT_FALSE(is_conservative(row["root"]));
      question.all = false;
      report::Answer alone = ask(snapshot, "path", question);
      EXPECT_EQ(!rows_of(alone, "paths").empty(), certain);
      if (!certain) {
        EXPECT_NE(alone.completeness->notes.sentences().front().find(chance ? "only stacks" : "may be alive"),
                  std::string::npos);
      }
      question.no_stacks = false;
      question.subject = type;
      std::vector<Cells> of_type = rows_of(snapshot, "path", question, "paths");
      EXPECT_EQ((Held{!of_type.empty(), !of_type.empty() && is_conservative(of_type[0]["root"]),
                      of_type.empty() ? 0 : number(of_type[0]["retained"])}),
                expected);
      auto told = [&](const auto &map, const auto &key) {
        auto at = map.find(key);
        return Held{at != map.end(), expected.by_chance, at == map.end() ? 0 : at->second};
      };
      EXPECT_EQ(told(by_address, made.objects[i]), expected);
      EXPECT_EQ(told(by_type, type), expected);
      EXPECT_EQ(by_stat[type], expected.bytes);
    }
    EXPECT_EQ(rows_of(snapshot, "objects", dead, "objects").size(), garbage_here);
    u64 staged = 0;
    for (Cells &row : rows_of(snapshot, "stat", live, "stages"))
      if (*row["kind"].text() == "stack_conservative")
        staged = number(row["objects"]);
    EXPECT_EQ(staged, chance_here);
    u64 owned_by_chance = 0;
    for (Cells &row : rows_of(snapshot, "retained", {}, "owners"))
      owned_by_chance += flag(row["conservative"]) ? number(row["objects"]) : 0;
    EXPECT_LE(owned_by_chance, chance_here); // the rest is shared by several words
    by_chance += chance_here;
    garbage += garbage_here;
    precise += made.objects.size() - chance_here - garbage_here;
  }
  EXPECT_GT(precise, 100u);
  EXPECT_GT(by_chance, 100u);
  EXPECT_GT(garbage, 100u);
  EXPECT_GT(both, 100u); // where a word on a stack holds what is held anyway
}

// Links of a list hold one another: as deep as it is long.
struct LongList {
  HeapBuilder heap{{}};

  explicit LongList(u64 links, const std::string &name) {
    const u64 p = heap.p;
    Address link = heap.method_table(
        {.base_size = static_cast<u32>(3 * p), .rid = heap.app().metadata.type("Shop", name), .series = {{p, p}}});
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    Address first = 0, last = 0;
    for (u64 i = 0; i < links; ++i) {
      Address next = old.object(link);
      if (last)
        old.store(last + p, next, p);
      else
        first = next;
      last = next;
    }
    heap.gc.handles = {{.type = HandleType::strong, .object = first}};
  }
};

TEST(Held, TheTreeOfALongList) {
  LongList made(100'000, "Link");
  Snapshot snapshot(made.heap.target(), {});
  Question question;
  question.tree = true;
  question.depth = 5'000'000;
  std::vector<Cells> folded = rows_of(snapshot, "retained", question, "tree"); // a chain is one line
  ASSERT_EQ(folded.size(), 2u);
  EXPECT_EQ(number(folded[1]["nodes"]), 100'000u);
  EXPECT_EQ(number(folded[1]["objects"]), 100'000u);
  question.raw = true;
  report::Answer answer = ask(snapshot, "retained", question);
  const std::vector<std::string> notes = answer.completeness->notes.sentences();
  EXPECT_NE(std::find(notes.begin(), notes.end(), "levels of the tree beyond the first 1,000 are not shown"),
            notes.end());
  std::string text;
  report::Sink sink(text);
  report::write_text(answer, {}, sink);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1000 + 7) << text.substr(0, 1000);
  EXPECT_LT(text.size(), 300'000u);
  // In data formats the level is a number, and each holds all that is below it.
  std::vector<Cells> rows = rows_of(snapshot, "retained", question, "tree");
  ASSERT_EQ(rows.size(), 1000u);
  for (u64 i = 1; i < rows.size(); ++i) {
    ASSERT_EQ(number(rows[i]["depth"]), i);
    ASSERT_EQ(number(rows[i]["objects"]), 100'000 - i + 1);
  }
  question.depth = 3;
  EXPECT_EQ(rows_of(snapshot, "retained", question, "tree").size(), 3u);
  EXPECT_EQ(ask(snapshot, "retained", question).completeness->notes.size() + 1, notes.size());
  question.raw = false;
  question.tree = false; // where there is none, none was meant
  EXPECT_THROW(ask(snapshot, "retained", question), UsageError);
  question.tree = true;
  question.depth = 0; // the top is there in any case
  EXPECT_EQ(rows_of(snapshot, "retained", question, "tree").size(), 1u);
}

TEST(Held, TheLargestOfEachLevelOfTheTree) {
  HeapBuilder heap({});
  const u32 p = static_cast<u32>(heap.p);
  SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
  const Address all = old.object(heap.object_array_type, 3);
  for (u32 i = 0; i < 3; ++i) {
    const std::string name(1, static_cast<char>('A' + i));
    const Address type = heap.method_table({.base_size = (3 + 8 * i) * p, .rid = heap.app().metadata.type("", name)});
    old.store(all + (2 + i) * p, old.object(type), p);
  }
  heap.gc.handles = {{.type = HandleType::strong, .object = all}};
  Snapshot snapshot(heap.target(), {});
  Question question;
  question.tree = true;
  EXPECT_EQ(rows_of(snapshot, "retained", question, "tree").size(), 5u);
  question.top = 2; // how many rows a text has when nobody asks
  EXPECT_EQ(rows_of(snapshot, "retained", question, "tree").size(), 5u);
  question.top_is_asked = true;
  const std::vector<Cells> rows = rows_of(snapshot, "retained", question, "tree");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(*rows[2].at("name").text(), "C");
  EXPECT_EQ(*rows[3].at("name").text(), "B");
}

// A heap has millions of objects that hold something: all are listed when that is asked for.
TEST(Held, MoreObjectsThanAreListed) {
  LongList made(3000, "Link");
  Snapshot snapshot(made.heap.target(), {});
  Question question;
  auto listed = [&] {
    std::vector<u64> out;
    for (Cells &row : rows_of(snapshot, "retained", question, "objects"))
      out.push_back(number(row["objects"]));
    return out;
  };
  auto notes = [&] { // as data has them, too
    std::vector<std::string> out = ask(snapshot, "retained", question).completeness->notes.sentences();
    std::erase_if(out, [](const std::string &note) { return !note.starts_with("table objects: "); });
    return out;
  };
  std::vector<u64> wanted(3000);
  for (u64 i = 0; i < wanted.size(); ++i)
    wanted[i] = wanted.size() - i;
  EXPECT_EQ(listed(), std::vector(wanted.begin(), wanted.begin() + 1000));
  EXPECT_EQ(notes(), std::vector<std::string>{"table objects: the first 1,000 of 3,000; --top 0 gives all"});
  question.top_is_asked = true;
  EXPECT_EQ(listed(), wanted);
  EXPECT_TRUE(notes().empty());
  question.top = 5;
  EXPECT_EQ(listed(), std::vector(wanted.begin(), wanted.begin() + 6)); // one more, so that the reader knows there is
  EXPECT_EQ(ask(snapshot, "retained", question).tables.back().row_count, 3000u);
}

// Filters choose the instances that count.
TEST(Held, StatByRetainedOfSomeInstances) {
  constexpr u64 links = 100;
  LongList made(links, "Link");
  const u64 size = 3 * made.heap.p;
  Snapshot snapshot(made.heap.target(), {});
  const Address first = made.heap.gc.handles.front().object;
  Question question;
  question.by = "retained";
  auto retained = [&] {
    std::vector<Cells> rows = rows_of(snapshot, "stat", question, "types");
    return rows.empty() ? 0 : number(rows.at(0).at("retained"));
  };
  EXPECT_EQ(retained(), links * size);
  for (u64 from : {1, 40, 99}) {
    question.range = {v0::Address(first + from * size), v0::Address(first + links * size)};
    EXPECT_EQ(retained(), (links - from) * size);
    question.range = {v0::Address(first + from * size), v0::Address(first + from * size + 1)};
    EXPECT_EQ(retained(), (links - from) * size); // with what hangs from it
  }
  question.range.reset();
  question.min_bytes = size;
  EXPECT_EQ(retained(), links * size);
  question.min_bytes = size + 1;
  EXPECT_EQ(retained(), 0u);
  question.min_bytes = 0;
  for (GCSegmentGeneration generation : {GCSegmentGeneration::gen2, GCSegmentGeneration::gen1}) {
    question.generation = static_cast<v0::Generation>(generation);
    EXPECT_EQ(retained(), generation == GCSegmentGeneration::gen2 ? links * size : 0);
  }
  question.generation.reset();
  question.life = Life::dead;
  EXPECT_THROW(ask(snapshot, "stat", question), UsageError);
}

// A type may be called as the table's own rows are.
TEST(Held, ATypeCalledShared) {
  HeapBuilder heap({});
  const u64 p = heap.p;
  Address type = heap.method_table(
      {.base_size = static_cast<u32>(3 * p), .rid = heap.app().metadata.type("", "(shared)"), .series = {{p, p}}});
  SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
  Address both = old.object(type), below = old.object(type);
  old.store(both + p, below, p);
  heap.gc.handles = {{.type = HandleType::strong, .object = both}, {.type = HandleType::pinned, .object = both}};
  Snapshot snapshot(heap.target(), {});
  Question question;
  question.tree = question.raw = true;
  question.depth = 50;
  std::vector<Cells> rows = rows_of(snapshot, "retained", question, "tree");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(number(rows[0]["objects"]), 2u);
  EXPECT_EQ(number(rows[1]["objects"]), 2u);
  EXPECT_EQ(number(rows[1]["address"]), both);
  EXPECT_EQ(number(rows[2]["objects"]), 1u);
  EXPECT_EQ(number(rows[2]["address"]), below);
}

// A thousand objects at the far end of a list have the owner of its first link.
TEST(Held, OwnersOfWhatALongListEndsIn) {
  LongList made(300'000, "Link");
  const u64 p = made.heap.p;
  Address last = made.heap.objects.back().address;
  Address items = made.heap.segments.back().object(made.heap.object_array_type, 1000);
  made.heap.segments.back().store(last + p, items, p);
  for (u64 i = 0; i < 1000; ++i)
    made.heap.segments.back().store(items + (2 + i) * p, made.heap.segments.back().string("item"), p);
  Snapshot snapshot(made.heap.target(), {});
  Question question;
  question.type_exact = "System.String";
  snapshot.dominators();
  std::vector<Cells> rows = rows_of(snapshot, "retained", question, "objects");
  ASSERT_EQ(rows.size(), 1000u);
  for (Cells &row : rows)
    ASSERT_EQ(*row["owner"].text(), "handle:strong Shop.Link");
}

// Names are kept as they are: each format does with control characters what it must.
TEST(Held, NamesWithControlCharacters) {
  LongList made(3, "Two\nLines\x1b!");
  Snapshot snapshot(made.heap.target(), {});
  Question question;
  auto written = [&](const char *format) {
    std::string out;
    report::Sink sink(out);
    report::find_writer(format)->write(ask(snapshot, "stat", question), {}, sink);
    return out;
  };
  EXPECT_NE(written("json").find("\"Shop.Two\\nLines\\u001b!\""), std::string::npos) << written("json");
  EXPECT_NE(written("csv").find("\"Shop.Two\nLines\ufffd!\""), std::string::npos) << written("csv");
  EXPECT_NE(written("text").find("Shop.Two?Lines?!"), std::string::npos) << written("text");
  question.type_exact = "Shop.Two\nLines\x1b!";
  EXPECT_EQ(rows_of(snapshot, "stat", question, "types").size(), 1u);
}

} // namespace
} // namespace dnheap::test
