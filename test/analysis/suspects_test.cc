// Who holds most, on small heaps: a collection, a chain, what two fields hold together, and whose it is where the
// runtime's timers hold it, too.
#include "analysis/suspects.h"
#include "analysis/verbs.h"
#include "base/not_found.h"
#include "objects/live.h"
#include "support/heap_builder.h"
#include "support/rows.h"

#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

HeapShape signed_app(HeapShape shape) {
  shape.signed_app = true; // System.Threading.Timers is in it
  return shape;
}

// Static fields Shop.Program.s_first, s_second and System.Threading.Timers.s_all, each an element of one array.
class Shop {
public:
  explicit Shop(HeapShape shape) : heap(signed_app(shape)), p(static_cast<u32>(heap.p)) {
    link = heap.method_table(
        {.base_size = 5 * p, .rid = heap.app().metadata.type("Shop", "Link"), .series = {{p, 2 * p}}});
    FieldShape next{field("_next", ElementType::Object), ElementType::Class, 0},
        item{field("_item", ElementType::Object), ElementType::Class, p};
    heap.fields(link, {next, item});
    links = heap.array(link, p);
    program = heap.type("Shop.Program", 1);
    heap.fields(program, {{field("s_first", ElementType::Object), ElementType::Class, 0, true},
                          {field("s_second", ElementType::Object), ElementType::Class, p, true}});
    framework = heap.type("System.Threading.Timers", 1);
    heap.fields(framework, {{field("s_all", ElementType::Object), ElementType::Class, 0, true}});
    old = &heap.segment(G::gen2);
    holder = old->object(heap.object_array_type, 8);
    other = old->object(heap.object_array_type, 8);
    heap.statics(program, holder + 2 * p);
    heap.statics(framework, other + 2 * p);
    heap.gc.handles = {{.type = HandleType::strong, .object = holder}, {.type = HandleType::strong, .object = other}};
  }
  u32 field(const char *name, ElementType type) {
    return heap.app().metadata.field(name, field_signature(element(type)));
  }
  void store(Address object, u64 slot, Address target) { old->store(object + (1 + slot) * p, target, p); }
  void first(Address object) { store(holder, 1, object); }
  void second(Address object) { store(holder, 2, object); }
  void all(Address object) { store(other, 1, object); }

  // Of 1,000 objects each.
  std::pair<Address, Address> two_arrays_of_the_same() {
    const Address one = old->object(links, 1000), two = old->object(links, 1000);
    for (u64 i = 0; i < 1000; ++i) {
      const Address both = old->object(link);
      store(one, 1 + i, both);
      store(two, 1 + i, both);
    }
    return {one, two};
  }

  Suspects suspects() {
    snapshot = std::make_unique<Snapshot>(heap.target(), SnapshotOptions{});
    Suspects out = find_suspects(*snapshot, {}, 0.05);
    const HeapBits &live = snapshot->live().objects; // as the graph's search and the walk find it
    EXPECT_EQ(out.live->words().size(), live.words().size());
    EXPECT_TRUE(std::equal(live.words().begin(), live.words().end(), out.live->words().begin()));
    return out;
  }

  HeapBuilder heap;
  u32 p;
  Address link = 0, links = 0, program = 0, framework = 0, holder = 0, other = 0;
  SegmentWriter *old = nullptr;
  std::unique_ptr<Snapshot> snapshot;
};

// A table's buckets: each node holds the next one.
TEST(Suspecting, NodesThatHoldEachOtherCountAsElements) {
  Shop shop({.format = all_formats[0]});
  const Address node =
      shop.heap.method_table({.base_size = 5 * shop.p,
                              .rid = shop.heap.app().metadata.type("System.Collections.Concurrent", "Map+Node"),
                              .series = {{shop.p, 2 * shop.p}}});
  const Address table = shop.old->object(shop.heap.array(node, shop.p), 100);
  shop.first(table);
  for (u64 i = 0; i < 100; ++i) {
    Address last = table;
    for (u64 k = 0; k < 10; ++k) {
      const Address next = shop.old->object(node);
      shop.store(last, k ? 0 : 1 + i, next);
      last = next;
    }
  }
  const Suspects found = shop.suspects();
  ASSERT_EQ(found.list.size(), 1u);
  EXPECT_EQ(found.list[0].elements, 1000u);
}

TEST(Suspecting, ACollection) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    const Address array = shop.old->object(shop.links, 1000);
    shop.first(array);
    for (u64 i = 0; i < 1000; ++i)
      shop.store(array, 1 + i, shop.old->object(shop.link));
    const Suspects found = shop.suspects();
    ASSERT_EQ(found.list.size(), 1u);
    const Suspect &s = found.list[0];
    EXPECT_EQ(s.kind, Suspect::Kind::collection);
    EXPECT_EQ(s.owner, "static Shop.Program.s_first");
    EXPECT_EQ(s.element, "Shop.Link");
    EXPECT_EQ(s.elements, 1000u);
    EXPECT_EQ(s.objects, 1001u);
    EXPECT_EQ(s.example, array);
    EXPECT_TRUE(s.is_own);
    EXPECT_LE(found.suspects_bytes, found.live_bytes);
  }
}

TEST(Suspecting, AChain) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    Address last = 0;
    for (u64 i = 0; i < 5000; ++i) {
      const Address here = shop.old->object(shop.link);
      if (last)
        shop.store(here, 0, last);
      last = here;
    }
    shop.second(last);
    const Suspects found = shop.suspects();
    ASSERT_EQ(found.list.size(), 1u);
    EXPECT_EQ(found.list[0].kind, Suspect::Kind::chain);
    EXPECT_EQ(found.list[0].owner, "static Shop.Program.s_second");
    EXPECT_EQ(found.list[0].elements, 5000u);
    EXPECT_EQ(found.list[0].example, last);
  }
}

TEST(Suspecting, WhatTwoFieldsHoldTogether) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    const auto [one, two] = shop.two_arrays_of_the_same();
    shop.first(one);
    shop.second(two);
    const Suspects found = shop.suspects();
    ASSERT_FALSE(found.list.empty());
    EXPECT_EQ(found.list[0].kind, Suspect::Kind::many);
    EXPECT_EQ(found.list[0].owner, "static Shop.Program.s_first and others");
    EXPECT_EQ(found.list[0].elements, 1000u);
  }
}

// One object that two fields reach, with many behind it: the way begins at its type.
TEST(Suspecting, AnObjectThatTwoFieldsHold) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    const auto [one, two] = shop.two_arrays_of_the_same();
    shop.store(two, 1, 0);
    const Address head = shop.old->object(shop.link);
    shop.store(head, 0, one);
    shop.first(head);
    shop.second(head);
    const Suspects found = shop.suspects();
    ASSERT_FALSE(found.list.empty());
    const Suspect &s = found.list[0];
    EXPECT_EQ(s.owner, "static Shop.Program.s_first and others");
    EXPECT_TRUE(s.is_own);
    EXPECT_EQ(s.way(), "static Shop.Program.s_first and others … Shop.Link");
    EXPECT_EQ(s.objects, 1001u); // the array and what is in it
  }
}

// What each of them holds by itself counts as an object, too.
TEST(Suspecting, WhatHangsOnWhatTwoFieldsHold) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    const Address one = shop.old->object(shop.links, 100), two = shop.old->object(shop.links, 100);
    shop.first(one);
    shop.second(two);
    for (u64 i = 0; i < 100; ++i) {
      const Address both = shop.old->object(shop.link);
      shop.store(both, 1, shop.old->object(shop.link));
      shop.store(one, 1 + i, both);
      shop.store(two, 1 + i, both);
    }
    const Suspects found = shop.suspects();
    ASSERT_FALSE(found.list.empty());
    EXPECT_EQ(found.list[0].kind, Suspect::Kind::many);
    EXPECT_EQ(found.list[0].elements, 100u);
    EXPECT_EQ(found.list[0].objects, 200u);
  }
}

// The framework's field holds it as well, and reaches it first: it is the program's all the same.
TEST(Suspecting, TheProgramsOwnFieldComesFirst) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    const auto [one, two] = shop.two_arrays_of_the_same();
    shop.second(one);
    shop.all(two);
    const Suspects found = shop.suspects();
    ASSERT_FALSE(found.list.empty());
    EXPECT_EQ(found.list[0].owner, "static Shop.Program.s_second");
    EXPECT_EQ(found.list[0].elements, 1000u);
    EXPECT_EQ(found.list[0].objects, 1001u);
  }
}

// `retained`: the same owners, and who holds together what none of them holds alone.
TEST(Retained, OwnersHaveRanksAndHubs) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    const auto [one, two] = shop.two_arrays_of_the_same();
    const auto [three, four] = shop.two_arrays_of_the_same();
    shop.store(shop.holder, 1, one);
    shop.store(shop.other, 1, two);
    shop.store(one, 1, three);
    shop.second(four);
    shop.snapshot = std::make_unique<Snapshot>(shop.heap.target(), SnapshotOptions{});
    auto objects_of = [&](const Question &question, const char *table, const char *name) {
      std::map<std::string, u64> out;
      report::Answer answer = answer_retained(*shop.snapshot, question);
      for (TextRow &row : text_rows_of(answer, table))
        out[row[name]] += std::stoull(row["objects"]);
      return out;
    };
    Question question;
    std::map<std::string, u64> owners = objects_of(question, "owners", "owner");
    EXPECT_EQ(owners["static Shop.Program.s_first"], 1001u); // with an array in the place of one object
    EXPECT_EQ(owners["static Shop.Program.s_second"], 1u);
    EXPECT_EQ(owners["static System.Threading.Timers.s_all"], 2u);
    EXPECT_EQ(owners["(shared)"], 1000u);
    EXPECT_EQ(objects_of(question, "shared", "type")["Shop.Link"], 1000u);
    question.plain = true;
    owners = objects_of(question, "owners", "owner");
    EXPECT_EQ(owners["static Shop.Program.s_first"], 2u);
    EXPECT_EQ(owners["(shared)"], 1999u);
    question.plain = false;
    question.hubs = {"Shop.Link[]"};
    owners = objects_of(question, "owners", "owner");
    EXPECT_EQ(owners["Shop.Link[]"], 2004u);
    EXPECT_EQ(owners.count("(shared)"), 0u);
    // The report, and the path to one of its suspects.
    const Suspects suspects = find_suspects(*shop.snapshot, question.hubs);
    ASSERT_FALSE(suspects.list.empty());
    EXPECT_EQ(suspects.list[0].owner, "Shop.Link[]");
    EXPECT_NE(find_suspects(*shop.snapshot).list.at(0).owner, "Shop.Link[]");
    Question report = question;
    report.target = "core";
    report.table.clear();
    EXPECT_EQ(answer_report(*shop.snapshot, report).next_command, "dnheap path core @1 --hub 'Shop.Link[]'");
    Question way = report;
    way.subject = "@1";
    EXPECT_EQ(answer_path(*shop.snapshot, way).tables.at(0).name, "paths");
    way.subject = "Shop.Link";
    EXPECT_TRUE(answer_path(*shop.snapshot, way).completeness->notes.at(0).starts_with("--hub decides which suspects"));
    question.hubs = {"Shop.Never"};
    EXPECT_THROW(answer_retained(*shop.snapshot, question), NotFound);
    question.plain = true;
    EXPECT_THROW(plan_retained(question), UsageError);
  }
}

TEST(Suspect, TypesWithoutTheFrameworksNamespaces) {
  EXPECT_EQ(brief_type_name("System.Collections.Generic.Dictionary<System.String, Shop.Order>+Entry[]"),
            "Dictionary<String, Shop.Order>+Entry[]");
  EXPECT_EQ(brief_type_name("Shop.Systems.Order"), "Shop.Systems.Order");
  EXPECT_EQ(brief_type_name("System.Private.CoreLib.dll!0x02000098[]"), "System.Private.CoreLib.dll!0x02000098[]");
  EXPECT_EQ(brief_type_name(""), "");
}

} // namespace
} // namespace dnheap::test
