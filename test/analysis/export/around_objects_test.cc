// What `objects`, `stat`, `path` and `show` say of an object's surroundings, in four formats: sizes up to a limit, what
// lies beside an address, who refers to younger objects, the way from one object to another, and a struct by itself.
#include "base/not_found.h"
#include "base/text.h"
#include "snapshot/snapshot.h"
#include "support/elf_writer.h"
#include "support/rows.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;
using Strings = std::vector<std::string>;

// Links in gen2, two to each other and one of them to a link in gen0; one in gen0 that refers to gen2; arrays of three
// sizes; and a struct Pair(first, second) inside of an object.
struct Shop {
  explicit Shop(Format format) : heap({.format = format}), p(static_cast<u32>(heap.p)) {
    link = heap.method_table(
        {.base_size = 4 * p, .rid = heap.app().metadata.type("Shop", "Link"), .series = {{p, 2 * p}}});
    const u32 pair_rid = heap.app().metadata.type("Shop", "Pair");
    pair = heap.method_table({.base_size = 4 * p, .flags = 0x40000, .rid = pair_rid});
    const auto field = [&](const char *name, ElementType type) {
      return heap.app().metadata.field(name, field_signature(element(type)));
    };
    std::vector<FieldShape> of_pair = {{field("first", ElementType::I4), ElementType::I4, 0},
                                       {field("second", ElementType::I4), ElementType::I4, 4}};
    heap.fields(pair, of_pair);
    heap.value_type(pair, ElementType::ValueType, 8);
    SegmentWriter &old = heap.segment(G::gen2);
    for (int i = 0; i < 8; ++i)
      links.push_back(old.object(link));
    old.free(200);
    loose = old.object(link);
    SegmentWriter &young = heap.segment(G::gen0);
    fresh = young.object(link);
    fresh_too = young.object(link);
    const Address array = heap.array(heap.object_type, p);
    for (u64 count : {10, 10, 1000})
      arrays.push_back(young.object(array, count));
    const auto store = [&](SegmentWriter &in, Address from, u64 slot, Address to) {
      in.store(from + (1 + slot) * p, to, p);
    };
    store(old, links[0], 0, links[1]);
    store(old, links[1], 0, links[2]);
    store(old, links[2], 1, links[3]);
    store(old, links[3], 0, fresh);
    store(young, fresh, 0, links[0]); // a circle
    old.store(links[5] + p, 7, 4);
    old.store(links[5] + p + 4, 8, 4);
    heap.gc.handles = {{.type = HandleType::strong, .object = links[0]}};
  }

  std::vector<TextRow> rows(const char *verb, const Question &question, const char *table) {
    report::Answer answer = answer_of(heap, verb, question);
    return text_rows_of(answer, table);
  }
  Strings column(const char *verb, const Question &question, const char *table, const char *key) {
    Strings out;
    for (TextRow &row : rows(verb, question, table))
      out.push_back(row[key]);
    return out;
  }

  HeapBuilder heap;
  const u32 p;
  Address link = 0, pair = 0, loose = 0, fresh = 0, fresh_too = 0;
  std::vector<Address> links, arrays;
};

TEST(AroundObjects, UpToASize) {
  for (Format format : all_formats) {
    Shop shop(format);
    Question question;
    question.min_bytes = 8 * shop.p;
    question.max_bytes = 20 * shop.p;
    EXPECT_EQ(shop.column("objects", question, "objects", "address"),
              (Strings{hex(shop.arrays[0]), hex(shop.arrays[1])}));
    EXPECT_EQ(shop.column("stat", question, "types", "count"), (Strings{"2"}));
  }
}

// Who refers to an object several times does so by several fields.
TEST(AroundObjects, ReferrersTellAllTheirFields) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    const u64 p = heap.p;
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    const Address held = old.string("held"), twice = old.object(heap.object_array_type, 4),
                  often = old.object(heap.object_array_type, 9);
    for (u64 i : {1u, 3u})
      old.store(twice + (2 + i) * p, held, p);
    for (u64 i = 0; i < 9; ++i)
      old.store(often + (2 + i) * p, held, p);
    Question question;
    question.target = "core";
    question.subject = hex(held);
    report::Answer answer = answer_of(heap, "show", question);
    std::vector<TextRow> rows = text_rows_of(answer, "referrers");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["field"], "[1], [3]");
    EXPECT_EQ(rows[1]["field"], "[0], [1], [2] and 6 more");
  }
}

TEST(AroundObjects, BySize) {
  for (Format format : all_formats) {
    Shop shop(format);
    Question question;
    question.by = "size";
    std::vector<TextRow> rows = shop.rows("objects", question, "sizes");
    ASSERT_GE(rows.size(), 4u);
    EXPECT_EQ(rows[0]["objects"], "1") << "the large array takes most";
    EXPECT_EQ(rows[0]["bytes"], rows[0]["size"]);
    u64 objects = 0, holes = 0;
    for (TextRow &row : rows) {
      objects += std::stoull(row["objects"]);
      holes += std::stoull(row["free_objects"]);
      EXPECT_EQ(std::stoull(row["bytes"]),
                std::stoull(row["size"]) * (std::stoull(row["objects"]) + std::stoull(row["free_objects"])));
    }
    EXPECT_EQ(objects, 14u);
    EXPECT_EQ(holes, 1u);
    question.generation = v0::Generation::gen2;
    EXPECT_EQ(shop.rows("objects", question, "sizes").size(), 2u);
    question.sort = "bytes";
    EXPECT_THROW(shop.rows("objects", question, "sizes"), UsageError);
  }
}

TEST(AroundObjects, NearAnAddress) {
  for (Format format : all_formats) {
    Shop shop(format);
    const auto near = [&](Address address) {
      Question question;
      question.near = v0::Address(address);
      return shop.column("objects", question, "objects", "address");
    };
    const auto from_to = [&](u64 first, u64 last) {
      Strings out;
      for (u64 i = first; i <= last; ++i)
        out.push_back(hex(shop.links[i]));
      return out;
    };
    EXPECT_EQ(near(shop.links[3]), from_to(0, 6));
    EXPECT_EQ(near(shop.links[3] + 1), from_to(0, 6)) << "inside of it";
    EXPECT_EQ(near(shop.links[4]).size(), 8u) << "and the hole behind";
    EXPECT_EQ(near(shop.links[0]), from_to(0, 3)) << "at the beginning of the segment";
    EXPECT_EQ(near(shop.loose).size(), 5u) << "three before, a hole, and nothing behind";
    EXPECT_EQ(near(shop.fresh).front(), hex(shop.fresh)) << "not into another segment";
    EXPECT_THROW(near(0x10), NotFound);
    Question both;
    both.near = v0::Address(shop.fresh);
    both.range = {v0::Address(0), v0::Address(1)};
    EXPECT_THROW(shop.rows("objects", both, "objects"), UsageError);
  }
}

TEST(AroundObjects, ThatReferToAGeneration) {
  for (Format format : all_formats) {
    Shop shop(format);
    const auto referring = [&](const char *word) {
      Question question;
      question.refers_to = word;
      return shop.column("objects", question, "objects", "address");
    };
    EXPECT_EQ(referring("younger"), (Strings{hex(shop.links[3])}));
    EXPECT_EQ(referring("gen0"), (Strings{hex(shop.links[3])}));
    EXPECT_EQ(referring("gen2"),
              (Strings{hex(shop.links[0]), hex(shop.links[1]), hex(shop.links[2]), hex(shop.fresh)}));
    EXPECT_TRUE(referring("loh").empty());
    EXPECT_THROW(referring("gen7"), UsageError);
    Question question;
    question.refers_to = "younger";
    EXPECT_EQ(shop.column("stat", question, "types", "type"), (Strings{"Shop.Link"}));
    question.life = Life::dead;
    EXPECT_TRUE(shop.rows("objects", question, "objects").empty()) << "with --dead: both must hold";
  }
}

TEST(AroundObjects, TheWayFromOneToAnother) {
  for (Format format : all_formats) {
    Shop shop(format);
    const auto way = [&](Address to, Address from) {
      Question question;
      question.subject = hex(to);
      question.from = v0::Address(from);
      Strings out = shop.column("path", question, "paths", "steps");
      std::erase(out, ""); // of the table for people
      return out;
    };
    const Strings there = way(shop.links[3], shop.links[1]);
    ASSERT_EQ(there.size(), 1u);
    EXPECT_NE(there[0].find(hex(shop.links[2])), std::string::npos);
    EXPECT_EQ(there[0].find(hex(shop.links[0])), std::string::npos);
    EXPECT_NE(way(shop.links[0], shop.links[3]).front().find(hex(shop.fresh)), std::string::npos) << "round";
    EXPECT_EQ(way(shop.links[1], shop.links[1]).size(), 1u) << "to itself: no step";
    EXPECT_TRUE(way(shop.loose, shop.links[0]).empty());
    Question question;
    question.subject = hex(shop.loose);
    question.from = v0::Address(shop.links[0]);
    const report::Answer none = answer_of(shop.heap, "path", question);
    EXPECT_NE(none.completeness->notes.sentences().front().find("no path leads from"), std::string::npos);
    question.all = true;
    EXPECT_THROW(answer_of(shop.heap, "path", question), UsageError);
    question.all = false;
    question.no_stacks = true;
    EXPECT_THROW(answer_of(shop.heap, "path", question), UsageError);
    question.no_stacks = false;
    question.subject = "Shop.Link";
    EXPECT_THROW(answer_of(shop.heap, "path", question), UsageError);
    question.from.reset();
    question.no_stacks = true;
    EXPECT_THROW(answer_of(shop.heap, "path", question), UsageError);
    EXPECT_THROW(way(shop.links[0], 0x10), Error);
  }
}

TEST(AroundObjects, AStructByItself) {
  for (Format format : all_formats) {
    Shop shop(format);
    Question question;
    question.subject = hex(shop.links[5] + shop.p);
    question.struct_type = hex(shop.pair);
    std::vector<TextRow> rows = shop.rows("show", question, "fields");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["field"], "first");
    EXPECT_EQ(rows[0]["value"], "") << "values are told to who asks for them";
    question.values = true;
    rows = shop.rows("show", question, "fields");
    EXPECT_EQ(rows[0]["value"], "7");
    EXPECT_EQ(rows[1]["value"], "8");
    EXPECT_EQ(rows[0]["offset"], "0");
    EXPECT_EQ(rows[1]["offset"], "4");
    question.struct_type = hex(shop.link);
    try {
      shop.rows("show", question, "fields");
      FAIL() << "a class has no fields where a struct has";
    } catch (const UsageError &error) {
      EXPECT_STREQ(error.what(), "--struct: Shop.Link is a class: dnheap show ADDRESS shows the fields of its objects");
    }
    question.struct_type = "Shop.Nothing";
    EXPECT_THROW(shop.rows("show", question, "fields"), NotFound);
    question.struct_type = hex(shop.heap.array(shop.heap.object_type, shop.p));
    question.subject = "0x10";
    EXPECT_THROW(shop.rows("show", question, "fields"), Error);
    question.struct_type = hex(shop.pair);
    EXPECT_THROW(shop.rows("show", question, "fields"), NotFound);
    question.closure = true;
    EXPECT_THROW(shop.rows("show", question, "fields"), UsageError);
  }
}

// What a snapshot that has the graph answers without a walk is what a walk finds.
TEST(AroundObjects, FromTheGraphAsByAWalk) {
  for (Format format : all_formats) {
    Shop shop(format);
    Snapshot without(shop.heap.target(), {}), with(shop.heap.target(), {});
    with.graph();
    const Verb &objects = *std::find_if(verbs().begin(), verbs().end(),
                                        [](const Verb &verb) { return verb.name == std::string_view("objects"); });
    u64 compared = 0;
    for (const char *type : {"Link", "Object", "Free", "Link|Free", "."})
      for (const char *sort : {"bytes", "type", "address"})
        for (u64 top : {0, 1, 3})
          for (const std::optional<G> generation :
               {std::optional<G>(), std::optional(G::gen0), std::optional(G::gen2)}) {
            Question question;
            question.type_regex = type;
            question.sort = sort;
            question.top = top;
            if (generation)
              question.generation = static_cast<v0::Generation>(*generation);
            question.min_bytes = top == 3 ? 40 : 0;
            report::Answer expected = objects.answer(without, question), found = objects.answer(with, question);
            const std::vector<TextRow> rows = text_rows_of(found, "objects");
            EXPECT_EQ(rows, text_rows_of(expected, "objects")) << type << " " << sort << " " << top;
            compared += rows.size();
          }
    EXPECT_GT(compared, 100u);
  }
}

} // namespace
} // namespace dnheap::test
