// `query`: what SQL says of a heap is what was written into it; whatever is asked, nothing is changed or opened, and
// what is no question is an error in words.
#include "analysis/verb.h"
#include "base/not_found.h"
#include "base/text.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/known_stacks.h"
#include "support/random_graph.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

namespace dnheap::test {
namespace {

using nlohmann::json;
using Answered = std::vector<json>;

Answered query(Snapshot &snapshot, const std::string &sql, Question question = {}) {
  const Verb &verb = *std::find_if(verbs().begin(), verbs().end(),
                                   [](const Verb &one) { return one.name == std::string_view("query"); });
  question.target = "core";
  question.subject = sql;
  report::Answer answer = ask(verb, snapshot, question);
  std::string out;
  report::Sink sink(out);
  report::write_json(answer, {}, sink);
  sink.flush();
  return json::parse(out)["tables"]["rows"].get<Answered>();
}
std::string error_of(Snapshot &snapshot, const std::string &sql) {
  try {
    query(snapshot, sql);
  } catch (const UsageError &e) {
    return e.what();
  }
  return "";
}

TEST(Query, SumsAreThoseOfTheHeap) {
  std::mt19937_64 random(11);
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    RandomGraph graph(shape, random);
    graph.heap.gc.handles = {{.type = HandleType::strong, .object = graph.random_object()}};
    const std::map<Address, WrittenObject> objects = graph.objects();
    u64 bytes = 0, aligned = 0, references = 0;
    for (const auto &[address, object] : objects) {
      bytes += object.size, aligned += object.aligned_size;
      for (Address target : graph.targets[address])
        references += objects.contains(target);
    }
    Snapshot snapshot(graph.heap.target(), {});
    const json sums = query(snapshot, "select count(*) n, sum(bytes) b, sum(aligned_bytes) a from objects")[0];
    EXPECT_EQ(sums["n"], objects.size());
    EXPECT_EQ(sums["b"], bytes);
    EXPECT_EQ(sums["a"], aligned);
    EXPECT_EQ(query(snapshot, "select count(*) n from refs")[0]["n"], references);
    const json types = query(snapshot, "select sum(count) n, sum(aligned_bytes) a from types where name != 'Free'")[0];
    EXPECT_EQ(types["n"], objects.size());
    EXPECT_EQ(types["a"], aligned);
    // What is looked up is what a look at all rows finds.
    const Address one = graph.random_object();
    const std::string number = std::to_string(one);
    for (const char *column : {"source", "target"})
      EXPECT_EQ(query(snapshot, std::string("select source, target, field, element from refs where ") + column + " = " +
                                    number + " order by 1, 2, 3, 4"),
                query(snapshot, std::string("select source, target, field, element from refs where +") + column +
                                    " = " + number + " order by 1, 2, 3, 4"));
    const Answered found = query(snapshot, "select * from objects where address = " + number);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0]["address"], hex(one));
    EXPECT_EQ(found[0]["bytes"], objects.at(one).size);
    EXPECT_EQ(found[0]["generation"], name_of(objects.at(one).generation));
    EXPECT_TRUE(query(snapshot, "select * from objects where address = 1 or address = 1.5").empty());
    // A text equals no address, so that nothing would be found, without a word.
    for (const char *where : {
           "objects where address = '0x10'", "refs where source = 16 and target = '0x10'",
               "objects where address in ('0x10', 2)",
#if SQLITE_VERSION_NUMBER >= 3038000
               "objects where address > '0x10'", "types where method_table = '0x10'", "roots where object <> 'x'"
#endif
         })
      EXPECT_NE(error_of(snapshot, std::string("select * from ") + where).find("an address is a number"),
                std::string::npos)
          << where;
    for (const std::string table : {"dominators", "plain_dominators"}) {
      // As many as are reached, and below no owner twice.
      EXPECT_EQ(query(snapshot, "select count(*) n from " + table),
                query(snapshot, "select count(*) n from objects where reached"));
      EXPECT_EQ(query(snapshot, "select sum(retained_bytes) n from " + table + " where dominator is null"),
                query(snapshot, "select sum(aligned_bytes) n from objects where reached"));
      // Who alone holds an object is told of all that it holds, however deep.
      EXPECT_EQ(query(snapshot, "select sum(retained_objects) n from " + table +
                                    " where dominator is null and owner is not null"),
                query(snapshot, "select count(*) n from " + table + " where owner is not null"));
      EXPECT_EQ(query(snapshot, "select count(*) n from " + table + " d join " + table +
                                    " up on up.object = d.dominator where d.owner is not up.owner")[0]["n"],
                0);
    }
    // The rows of `retained`: all of the heap, and for each owner what its objects in `dominators` say.
    EXPECT_EQ(query(snapshot, "select sum(retained_bytes) n from owners"),
              query(snapshot, "select sum(aligned_bytes) n from objects"));
    EXPECT_EQ(query(snapshot, "select owner, sum(retained_bytes) n from owners where rank is not null group by 1"),
              query(snapshot, "select owner, sum(retained_bytes) n from dominators where dominator is null and owner "
                              "is not null group by 1"));
    EXPECT_EQ(query(snapshot, "select owner from roots where kind = 'handle'").size(), 1u);
  }
}

struct Texts {
  Texts() {
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    for (const char *text : {"pear", "apple", "pear"})
      old.string(text);
  }
  HeapBuilder heap{{}};
};

TEST(Query, ValuesOnlyWhereTheyAreAskedFor) {
  Texts texts;
  Snapshot snapshot(texts.heap.target(), {});
  EXPECT_EQ(query(snapshot, "select distinct value from strings")[0]["value"], nullptr);
  EXPECT_EQ(query(snapshot, "select sum(length) n from strings")[0]["n"], 13);
  Question question;
  question.values = true;
  const Answered found =
      query(snapshot, "select value, count(*) n from strings group by value order by n desc", question);
  EXPECT_EQ(found[0]["value"], "pear");
  EXPECT_EQ(found[0]["n"], 2);
}

TEST(Query, LimitsAndColumnsOfTheSameName) {
  Texts texts;
  Snapshot snapshot(texts.heap.target(), {});
  Question question;
  question.limit = 2;
  EXPECT_EQ(query(snapshot, "select address from objects", question).size(), 2u);
  const json row = query(snapshot, "select 1, 1, -2 as n, 2.5 as f, null as x, 'a' || char(0) || 'b' as t")[0];
  EXPECT_EQ(row, json::parse(R"({"1":1,"1_2":1,"n":-2,"f":2.5,"x":null,"t":"a\u0000b"})"));
  EXPECT_EQ(query(snapshot, "select x'00ff' as b, x'' as e")[0], json::parse(R"({"b":"x'00ff'","e":"x''"})"));
}

TEST(Query, JsonHasTables) {
  Texts texts;
  Snapshot snapshot(texts.heap.target(), {});
  EXPECT_EQ(query(snapshot, "select sum(value) n from json_each('[1, 2, 39]')")[0]["n"], 42);
  EXPECT_EQ(query(snapshot, "select count(*) n from json_tree('{\"a\": [1]}')")[0]["n"], 3);
  EXPECT_EQ(query(snapshot, "-- how many\nselect count(*) n from objects")[0]["n"], 3);
}

TEST(Query, NothingButQuestions) {
  Texts texts;
  Snapshot snapshot(texts.heap.target(), {});
  for (const char *sql :
       {"attach '/tmp/x' as x", "create table t(x)", "pragma writable_schema = on", "delete from objects",
        "insert into objects values (1)", "update types set name = ''", "drop table objects", "vacuum into '/tmp/x'",
        "select load_extension('x')", "create virtual table t using objects", "begin", "select 1; select 2", "", "--",
        "select", "select * from nowhere", "0x1234", "select readfile('/etc/passwd')"})
    EXPECT_TRUE(error_of(snapshot, sql).starts_with("query: ")) << sql << ": " << error_of(snapshot, sql);
  EXPECT_NE(error_of(snapshot, "select * from Shop.Order").find("this looks like OQL"), std::string::npos);
  EXPECT_EQ(error_of(snapshot, "select 1;  "), "");
  EXPECT_EQ(
      query(snapshot,
            "with recursive n(i) as (select 1 union all select i + 1 from n limit 5) select sum(i) s from n")[0]["s"],
      15);
}

// A question that would never end is given up when the user has had enough.
TEST(Query, CanBeInterrupted) {
  Texts texts;
  Progress progress;
  SnapshotOptions options;
  options.watch.progress = &progress;
  Snapshot snapshot(texts.heap.target(), options);
  EXPECT_EQ(query(snapshot, "select count(*) n from strings")[0]["n"], 3);
  progress.cancel = true;
  EXPECT_THROW(query(snapshot, "with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i) from n"),
               Interrupted);
}

TEST(Query, EndsAfterSoLong) {
  Texts texts;
  Snapshot snapshot(texts.heap.target(), {});
  Question question;
  question.timeout = 1;
  EXPECT_EQ(query(snapshot, "select count(*) n from strings", question)[0]["n"], 3);
  // Many cheap steps; few dear ones.
  for (const char *what : {"sum(i)", "sum(hex(zeroblob(250000 + i % 7)) like '%1%1')"})
    try {
      query(snapshot,
            std::string("with recursive n(i) as (select 1 union all select i + 1 from n) select ") + what + " from n",
            question);
      FAIL() << "it ended";
    } catch (const Error &e) {
      EXPECT_STREQ(e.what(), "query: it takes longer than the 1 s that it was given");
    }
  EXPECT_THROW(query(snapshot, "select length(hex(zeroblob(1000000)))"), Error); // no text is that long
}

// What is not seen to be held is no more complete than what is not seen at all.
TEST(Query, MetaKnowsWhetherRootsAreMissing) {
  for (const bool has_stacks : {true, false}) {
    HeapBuilder heap({});
    if (has_stacks)
      give_stacks(heap);
    heap.gc.handles = {{.type = HandleType::strong, .object = heap.segment(GCSegmentGeneration::gen2).string("text")}};
    Snapshot snapshot(heap.target(), {});
    EXPECT_EQ(query(snapshot, "select value from meta where key = 'complete'")[0]["value"], has_stacks ? "1" : "0");
  }
}

// The same rows by whatever way: looked up, compared, by one look-up or another.
TEST(Query, EveryWayToARowLeadsToTheSame) {
  std::mt19937_64 random(12);
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    RandomGraph graph(shape, random);
    graph.heap.gc.handles = {{.type = HandleType::strong, .object = graph.random_object()}};
    Snapshot snapshot(graph.heap.target(), {});
    auto count = [&](const std::string &from) { return query(snapshot, "select count(*) n from " + from)[0]["n"]; };
    for (int i = 0; i < 4; ++i) {
      const std::string a = hex(graph.random_object()), b = hex(graph.random_object());
      EXPECT_EQ(count("objects where address = " + a), 1);
      EXPECT_EQ(count("objects where address >= " + a), count("objects where +address >= " + a));
      EXPECT_EQ(count("objects where address < " + a).get<u64>() + count("objects where address >= " + a).get<u64>(),
                snapshot.index().count());
      for (const char *where :
           {"source = A or target = B", "target = A or target = B", "source = A and element = 5 or target = B",
            "source = A or source = B", "source in (A, B) or target in (A, B)"}) {
        std::string looked_up, compared;
        for (const char *at = where; *at; ++at) {
          const std::string next = *at == 'A' ? a : *at == 'B' ? b : std::string(1, *at);
          compared +=
              std::string(at).starts_with("source") || std::string(at).starts_with("target") ? "+" + next : next;
          looked_up += next;
        }
        EXPECT_EQ(count("refs where " + looked_up), count("refs where " + compared)) << looked_up;
      }
    }
    EXPECT_EQ(count("objects o join types t on t.id = o.type"), snapshot.index().count());
    EXPECT_EQ(
        query(snapshot, "select t.name, count(*) n from objects o join types t on t.id = o.type group by 1 order by 1"),
        query(snapshot,
              "select t.name, count(*) n from objects o join types t on +t.id = o.type group by 1 order by 1"));
    EXPECT_EQ(count("types where id in (select id from types)"), count("types"));
    EXPECT_EQ(count("types where id = -1 or id = 1000000 or id = 'x'"), 0);
    const std::string quoted = "'" + hex(graph.random_object()) + "'";
    for (const char *compares : {
           "address = ",
#if SQLITE_VERSION_NUMBER >= 3038000
               "address > ", "address != "
#endif
         })
      EXPECT_EQ(error_of(snapshot, std::string("select * from objects where ") + compares + quoted),
                "query: an address is a number: write 0x7f… without quotes around it");
  }
}

TEST(Query, WhatATypeIsCalledIsAText) {
  for (const std::string name : {"<script>", "a'b\"c",
                                 "A\xe2\x80\xae"
                                 "B"}) {
    HeapBuilder heap({});
    heap.segment(GCSegmentGeneration::gen2).object(heap.type("Shop." + name, 1));
    Snapshot snapshot(heap.target(), {});
    EXPECT_EQ(query(snapshot, "select name from types t join objects o on o.type = t.id")[0]["name"],
              snapshot.runtime().types().name(heap.objects.back().method_table));
  }
}

} // namespace
} // namespace dnheap::test
