// Rows of verbs foresee what their questions take: whatever a Snapshot works out for an answer, and every pass that
// takes time, with every option that a row lists.
#include "analysis/plan.h"
#include "analysis/verb.h"
#include "base/not_found.h"
#include "base/text.h"
#include "snapshot/snapshot.h"
#include "support/known_stacks.h"
#include "support/run.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Names = std::vector<std::string_view>;

struct Shop {
  Shop() {
    const u64 p = heap.p;
    give_stacks(heap);
    type = heap.type("Shop.Order", 2);
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    for (int i = 0; i < 100; ++i)
      orders.push_back(old.object(type));
    old.store(orders[0] + p, orders[1], p);
    heap.gc.handles = {{.type = HandleType::strong, .object = orders[0]}};
  }
  // A reference of a live object leads to none: verbs then look again, at what is alive.
  void harm() { heap.segments.front().store(orders[1] + heap.p, 0x10000, heap.p); }

  HeapBuilder heap{{}};
  Address type = 0;
  std::vector<Address> orders;
};

// Every option that the row lists, each by itself, with every subject; and all that are not words together.
std::vector<Question> questions(const Verb &verb, const Shop &shop, const std::string &output) {
  Question plain;
  plain.target = "core";
  plain.output = verb.makes_file ? output : "";
  if (!verb.as.empty())
    plain.as = *verb.as.begin();
  std::vector<Question> out = {plain};
  out.emplace_back(plain).target.clear(); // an embedder's question need not name the Snapshot's target
  auto add = [&](auto change) {
    Question question = plain;
    change(question);
    out.push_back(std::move(question));
  };
  for (Life life : {Life::live, Life::dead})
    if (verb.takes.has(Takes::life))
      add([&](Question &q) { q.life = life; });
  const std::pair<Takes, bool Question::*> flags[] = {{Takes::all, &Question::all},
                                                      {Takes::closure, &Question::closure},
                                                      {Takes::tree, &Question::tree},
                                                      {Takes::merge, &Question::merge},
                                                      {Takes::mine, &Question::mine},
                                                      {Takes::roots, &Question::references},
                                                      {Takes::values, &Question::values},
                                                      {Takes::no_values, &Question::no_values},
                                                      {Takes::no_stacks, &Question::no_stacks}};
  for (auto [takes, flag] : flags)
    if (verb.takes.has(takes))
      add([&, flag = flag](Question &q) { q.*flag = true; });
  if (verb.takes.has(Takes::min_bytes))
    add([](Question &q) { q.min_bytes = 1; });
  if (verb.takes.has(Takes::max_bytes))
    add([](Question &q) { q.max_bytes = 1000; });
  if (verb.takes.has(Takes::refers_to))
    add([](Question &q) { q.refers_to = "younger"; });
  if (verb.takes.has(Takes::kind))
    add([&](Question &q) {
      const std::string_view name = verb.name;
      q.kind = name == "threads" ? "background" : name == "locks" ? "monitor" : "pinned";
    });
  if (verb.takes.has(Takes::near))
    add([&](Question &q) { q.near = v0::Address(shop.orders[3]); });
  if (verb.takes.has(Takes::struct_type))
    add([&](Question &q) { q.struct_type = hex(shop.type); });
  if (verb.takes.has(Takes::range))
    add([&](Question &q) { q.range = {v0::Address(shop.orders[2]), v0::Address(shop.orders[7])}; });
  if (verb.takes.has(Takes::generation))
    add([](Question &q) { q.generation = v0::Generation::gen2; });
  if (verb.takes.has(Takes::type)) {
    add([](Question &q) { q.type_exact = "Shop.Order"; });
    add([](Question &q) { q.type_regex = "Order"; });
  }
  const std::pair<Words, std::string Question::*> lists[] = {
      {verb.sort_columns, &Question::sort}, {verb.by, &Question::by}, {verb.tables, &Question::table}};
  for (auto [words, member] : lists)
    for (std::string_view word : words)
      for (Life life : {Life::any, Life::live})
        if (life == Life::any || verb.takes.has(Takes::life))
          add([&, member = member](Question &q) { q.*member = word, q.life = life; });
  for (std::string_view word : verb.as)
    for (bool values : {false, true})
      for (bool around : {false, true})
        add([&](Question &q) {
          q.as = word;
          q.values = values;
          if (around)
            q.around = v0::Address(shop.orders[1]);
        });
  add([](Question &q) { q.verbose = q.values = true; });
  if (std::string_view(verb.name) == "query") {
    for (const char *sql :
         {"select * from objects", "select * from refs where target = 1", "select * from dominators",
          "select * from plain_dominators", "select * from owners", "select * from types, roots, strings, meta",
          "select e.* from objects o join entries e on e.collection = o.address"})
      add([&](Question &q) { q.subject = sql; });
    return out;
  }
  if (verb.subject.among)
    for (std::string_view word : verb.subject.among())
      add([&](Question &q) { q.subject = word; });
  if (!verb.subject || verb.subject.is_optional)
    return out;
  std::vector<Question> about;
  for (const std::string &subject :
       {hex(shop.orders[0]), hex(shop.orders[50]), hex(shop.type), std::string("Shop.Order")})
    for (Question question : out) {
      question.subject = subject;
      about.push_back(std::move(question));
    }
  return about;
}

// Returns the names of the passes that it took; nullopt if it is no question. A pass that was not foreseen throws.
std::optional<std::vector<std::string>> answered(const Verb &verb, const Question &question, bool harmed) {
  Shop shop; // the same each time
  if (harmed)
    shop.harm();
  std::vector<PassTime> times;
  SnapshotOptions options;
  options.watch.times = &times;
  options.record_reads = verb.records_reads;
  Snapshot snapshot(shop.heap.target(), options);
  try {
    report::Answer answer = ask(verb, snapshot, question);
    for (report::Table &table : answer.tables)
      for (report::Row row(table.columns.size()); table.rows && table.rows(row);)
        row.assign(table.columns.size(), {});
  } catch (const UsageError &) {
    return std::nullopt;
  } catch (const NotFound &) {
    return std::nullopt;
  }
  std::vector<std::string> out;
  for (const PassTime &time : times)
    out.push_back(time.name);
  return out;
}

std::string words_of(const Verb &verb, const Question &q, bool harmed) {
  return std::string(verb.name) + " " + q.subject + " --sort=" + q.sort + " --by=" + q.by + " --table=" + q.table +
         (q.life == Life::live   ? " --live"
          : q.life == Life::dead ? " --dead"
                                 : "") +
         (q.all ? " --all" : "") + (q.tree ? " --tree" : "") + (q.closure ? " --closure" : "") +
         (q.min_bytes ? " --min" : "") + (harmed ? ", harmed" : "");
}

TEST(Plan, ForeseesWhateverIsWorkedOut) {
  TemporaryFolder folder;
  const Shop shop;
  u64 asked = 0, came_perhaps = 0;
  for (const Verb &verb : verbs())
    for (const Question &question : questions(verb, shop, folder.path("small.core")))
      for (bool harmed : {false, true}) {
        if (!verb.answer)
          continue;
        SCOPED_TRACE(words_of(verb, question, harmed));
        const std::optional<std::vector<std::string>> took = answered(verb, question, harmed);
        if (!took)
          continue;
        ++asked;
        Question with_target = question;
        with_target.target = "core";
        const Names certain = passes_of(verb, with_target, false);
        const Names perhaps = verb.plan(question).names_of_perhaps();
        EXPECT_EQ(certain.back(), "write");
        for (const std::string &name : *took) {
          const bool is_certain = std::find(certain.begin(), certain.end(), name) != certain.end();
          const bool is_possible = std::find(perhaps.begin(), perhaps.end(), name) != perhaps.end();
          EXPECT_TRUE(is_certain || is_possible) << name;
          came_perhaps += !is_certain;
        }
        // One walk gives counts and objects' numbers.
        EXPECT_LE(std::count(took->begin(), took->end(), "walk"), std::count(certain.begin(), certain.end(), "walk"));
      }
  EXPECT_GT(asked, 150u);
  EXPECT_GT(came_perhaps, 5u);
}

// The test above rests on this.
TEST(Plan, APassThatIsNotForeseenIsAnErrorOfTheProgram) {
  Shop shop;
  Snapshot snapshot(shop.heap.target(), {});
  Verb verb = verbs().front();
  verb.plan = [](const Question &) { return Plan(Pass::tally); };
  verb.answer = [](const Snapshot &of, const Question &) {
    of.live();
    return report::Answer();
  };
  EXPECT_THROW(ask(verb, snapshot, {}), std::logic_error);
}

TEST(Plan, NamesComeInTheirOrderAndOnce) {
  EXPECT_EQ(Plan(Pass::tally).names(), (Names{"runtime", "segments", "walk"}));
  EXPECT_EQ(Plan(Pass::live | Pass::tally).names(), (Names{"runtime", "segments", "walk", "index", "roots", "mark"}));
  Plan plan(Pass::index);
  plan.then("walk").then(Pass::graph).perhaps(Pass::live).perhaps("closure");
  EXPECT_EQ(plan.names(), (Names{"runtime", "segments", "walk", "index", "walk", "roots", "edges"}));
  EXPECT_EQ(plan.first(), Passes(Pass::index));
  EXPECT_TRUE(plan.foreseen().has(Pass::live));
  EXPECT_FALSE(plan.certain().has(Pass::live));
  EXPECT_FALSE(plan.foreseen().has(Pass::dominators));
}

TEST(Plan, OnlyWhatTheQuestionNeeds) {
  const Verb &stat = *std::find_if(verbs().begin(), verbs().end(),
                                   [](const Verb &verb) { return verb.name == std::string_view("stat"); });
  Question question;
  question.target = "core";
  EXPECT_EQ(passes_of(stat, question, false), (Names{"open", "module files", "runtime", "segments", "walk", "write"}));
  EXPECT_EQ(passes_of(stat, question, true), (Names{"module files", "runtime", "segments", "walk", "rows", "write"}));
  for (const char *name : {"core.lz4", "core.xz", "core.gz", "core.zst"}) {
    question.target = name;
    EXPECT_EQ(passes_of(stat, question, false).front(), "decompress");
  }
  question.life = Life::dead;
  EXPECT_EQ(passes_of(stat, question, false).size(), 11u);
  const Names of_process = passes_of(stat, question, true);
  EXPECT_EQ(std::count(of_process.begin(), of_process.end(), "copy"), 1);
}

} // namespace
} // namespace dnheap::test
