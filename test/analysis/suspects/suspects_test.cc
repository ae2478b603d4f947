// Who holds most, on small heaps: a collection, a chain, what two fields hold together, and whose it is where the
// runtime's timers hold it, too.
#include "analysis/names/brief_type_name.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/suspects/also_held.h"
#include "analysis/suspects/held_contents.h"
#include "analysis/suspects/other_owners.h"
#include "analysis/suspects/suspects.h"
#include "analysis/verbs/tables/account_table.h"
#include "analysis/verbs/verbs.h"
#include "base/not_found.h"
#include "objects/live.h"
#include "support/heap_builder.h"
#include "support/rows.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

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

  // A type that concurrent collections are made of inside, as large as a Link.
  Address node(const char *name = "Map+Node") {
    return heap.method_table({.base_size = 5 * p,
                              .rid = heap.app().metadata.type("System.Collections.Concurrent", name),
                              .series = {{p, 2 * p}}});
  }

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
    expect_live(*out.live);
    snapshot->forget_sizes(); // those of the tree are asked then
    expect_live(ReachedObjects(*snapshot, ranked_tree(*snapshot)->tree));
    return out;
  }

  // As the walk finds it.
  void expect_live(const ReachedObjects &reached) {
    const HeapBits &live = snapshot->live().objects;
    ASSERT_EQ(reached.all.words().size(), live.words().size());
    EXPECT_TRUE(std::equal(live.words().begin(), live.words().end(), reached.all.words().begin()));
    const HeapTally tally = tally_of_live(*snapshot);
    ASSERT_EQ(reached.by_segment.segments.size(), tally.segments.size());
    for (u64 i = 0; i < tally.segments.size(); ++i)
      EXPECT_EQ(reached.by_segment.segments[i].objects.aligned_bytes, tally.segments[i].objects.aligned_bytes);
    std::map<Address, u64> counts;
    for (u32 i = 0; i < reached.by_type.size(); ++i)
      if (reached.by_type[i])
        counts[snapshot->references().types()[TypeId{i}].method_table] = reached.by_type[i];
    std::map<Address, u64> expected;
    ObjectFilter alive;
    alive.among = &live;
    for (const TypeTally &type : snapshot->tally(alive).types)
      if (const u64 count = type.total().count)
        expected[type.method_table] = count;
    EXPECT_EQ(counts, expected);
  }

  HeapBuilder heap;
  u32 p;
  Address link = 0, links = 0, program = 0, framework = 0, holder = 0, other = 0;
  SegmentWriter *old = nullptr;
  std::unique_ptr<Snapshot> snapshot;
};

// By the definition, one object after the other.
struct ContentsTwin {
  const DominatorTree &tree;
  const ObjectGraph &graph;
  const Insides &insides;
  std::span<const TreePlace> without;
  HeldContents out;

  TypeId type(TreePlace at) const { return graph.type(*tree.object(at)); }
  void below(TreePlace at, bool is_top) {
    tree.for_each_child(at, [&](TreePlace child) {
      if (is_top && std::count(without.begin(), without.end(), child))
        return;
      if (tree.object(at) && insides.is_inside(type(at), type(child)))
        return below(child, false);
      HeldGroup &group = out.held[type(child)];
      const Retained retained = tree.retained(child);
      ++group.count;
      group.objects += retained.objects;
      group.bytes += retained.bytes;
      group.most = std::max(group.most, retained.bytes);
      group.behind += behind(child);
    });
    if (tree.object(at) && insides.is_node(type(at)))
      ++out.nodes[type(at)];
  }
  u64 behind(TreePlace at) const {
    u64 count = 0;
    tree.for_each_child(at, [&](TreePlace child) { count += type(child) == type(at) ? 1 + behind(child) : 0; });
    return count;
  }
};

// Many parts below one place, which threads share; what is in nodes, and linked one behind the other.
TEST(HeldContents, AsByTheDefinitionForAnyNumberOfThreads) {
  Shop shop({.format = all_formats[0]});
  const Address node = shop.node();
  const Address array = shop.old->object(shop.links, 5000);
  shop.first(array);
  std::mt19937 random(7);
  for (u64 i = 0; i < 5000; ++i) {
    Address last = array;
    for (u64 k = 0, depth = random() % 6; k < depth; ++k) {
      const Address next = shop.old->object(random() % 3 ? shop.link : node);
      shop.store(last, k ? random() % 2 : 1 + i, next);
      if (k && random() % 2)
        shop.store(last, 1, shop.old->object(shop.link)); // beside it, or instead: then it is dead
      last = next;
    }
  }
  shop.suspects();
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(*shop.snapshot);
  const DominatorTree &tree = ranked->tree;
  const Insides insides(shop.snapshot->runtime(), shop.snapshot->references().types());
  const TreePlace at = *tree.place(shop.snapshot->index().find(array));
  std::vector<TreePlace> children;
  tree.for_each_child(at, [&](TreePlace child) { children.push_back(child); });
  ASSERT_GT(children.size(), 3000u);
  for (const std::vector<TreePlace> &without : {std::vector<TreePlace>(), {children[0], children[2000]}}) {
    ContentsTwin twin{tree, shop.snapshot->graph(), insides, without, {}};
    twin.below(at, true);
    ASSERT_GE(twin.out.held.size(), 1u);
    std::optional<TreePlace> first;
    for (unsigned threads : {1u, 2u, 16u}) {
      const HeldContents found =
          held_contents(tree, shop.snapshot->graph(), insides, at, without, threads, shop.snapshot->watch());
      EXPECT_EQ(found.nodes, twin.out.nodes);
      ASSERT_EQ(found.held.size(), twin.out.held.size());
      for (const auto &[type, group] : found.held) {
        const HeldGroup &expected = twin.out.held.at(type);
        EXPECT_EQ(std::tie(group.count, group.objects, group.bytes, group.behind, group.most),
                  std::tie(expected.count, expected.objects, expected.bytes, expected.behind, expected.most));
        EXPECT_EQ(tree.retained(group.first).bytes, group.most);
        EXPECT_EQ(group.first, first.value_or(group.first));
        first = group.first;
      }
      ASSERT_EQ(found.held.size(), 1u); // else `first` would be of several types
    }
  }
}

// A table's buckets: each node holds the next one.
TEST(Suspecting, NodesThatHoldEachOtherCountAsElements) {
  Shop shop({.format = all_formats[0]});
  const Address node = shop.node();
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

// What hangs at the end of a part is no link of it: the next part begins where its last link leads.
TEST(Suspecting, AChainOfLinksThatHoldSomething) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    std::vector<Address> links;
    for (u64 i = 0; i < 1000; ++i) {
      links.push_back(shop.old->object(shop.link));
      shop.store(links[i], 1, shop.old->object(shop.links, 20));
      if (i)
        shop.store(links[i - 1], 0, links[i]);
    }
    shop.first(links[0]);
    shop.second(links[400]);
    const Suspects found = shop.suspects();
    ASSERT_EQ(found.list.size(), 1u);
    EXPECT_EQ(found.list[0].owner, "static Shop.Program.s_first and others");
    EXPECT_EQ(found.list[0].elements, 1000u);
    EXPECT_EQ(found.list[0].objects, 2000u);
  }
}

// What two fields hold together stays if one lets go: the other is named.
TEST(Suspecting, WhoElseHoldsIt) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    const Address one = shop.old->object(shop.links, 600), two = shop.old->object(shop.links, 600);
    for (u64 i = 0; i < 600; ++i) {
      const Address link = shop.old->object(shop.link);
      shop.store(one, 1 + i, link);
      shop.store(two, 1 + i, link);
    }
    shop.first(one);
    shop.second(two);
    Snapshot snapshot(shop.heap.target(), {});
    const Suspects found = find_suspects(snapshot);
    ASSERT_FALSE(found.list.empty());
    ASSERT_EQ(found.list[0].owner, "static Shop.Program.s_first and others");
    const std::vector<OtherOwners> others = find_other_owners(snapshot, found.list, found.live_bytes);
    ASSERT_EQ(others.size(), found.list.size());
    EXPECT_EQ(others[0].text(), "static Shop.Program.s_second");
    EXPECT_FALSE(others[0].has_more);
  }
}

// Of a queue in segments the first one leads to all but the last, which hangs from the queue itself.
TEST(Suspecting, AQueueInSegments) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    const Address segment = shop.node("Queue+Segment"), queue = shop.old->object(shop.link);
    Address first = 0, last = 0;
    for (u64 i = 0; i < 5; ++i) {
      const Address here = shop.old->object(segment), array = shop.old->object(shop.links, 400);
      for (u64 k = 0; k < 400; ++k)
        shop.store(array, 1 + k, shop.old->object(shop.link));
      shop.store(here, 1, array);
      first = first ? first : here;
      if (last)
        shop.store(last, 0, here);
      last = here;
    }
    shop.store(queue, 0, first);
    shop.store(queue, 1, last);
    shop.first(queue);
    const Suspects found = shop.suspects();
    ASSERT_EQ(found.list.size(), 1u);
    EXPECT_EQ(found.list[0].kind, Suspect::Kind::collection);
    EXPECT_EQ(found.list[0].owner, "static Shop.Program.s_first");
    EXPECT_EQ(found.list[0].element, "Shop.Link");
    EXPECT_EQ(found.list[0].elements, 2000u);
    EXPECT_EQ(found.list[0].objects, 2011u);
    EXPECT_EQ(found.list[0].example, queue);
  }
}

// Numbers are no objects: the list says how many it has.
TEST(Suspecting, ACollectionOfValues) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    const u32 rid = shop.heap.app().metadata.type("System.Collections.Generic", "List`1");
    shop.heap.app().metadata.generic(token(Table::TypeDef, rid), {"T"});
    const Address list = shop.heap.method_table(
        {.base_size = 4 * shop.p, .rid = rid, .arguments = {shop.link}, .series = {{shop.p, shop.p}}});
    shop.heap.fields(list, {{shop.field("_items", ElementType::Object), ElementType::Class, 0},
                            {shop.field("_size", ElementType::I4), ElementType::I4, shop.p}});
    const u32 width = 12 - shop.p; // elements of a pointer's size would be references
    const Address numbers = shop.old->object(shop.heap.array(shop.link, width), 50000), object = shop.old->object(list);
    shop.store(object, 0, numbers);
    shop.old->store(object + 2 * shop.p, 40000, 4);
    shop.first(object);
    const Suspects found = shop.suspects();
    ASSERT_EQ(found.list.size(), 1u);
    EXPECT_EQ(found.list[0].kind, Suspect::Kind::collection);
    EXPECT_EQ(found.list[0].owner, "static Shop.Program.s_first");
    EXPECT_EQ(found.list[0].elements, 40000u);
    EXPECT_EQ(found.list[0].element, "");
    EXPECT_EQ(found.list[0].example, object);
    EXPECT_TRUE(found.list[0].text().starts_with("List<Shop.Link>: 40,000 entries, ")) << found.list[0].text();
  }
}

// Each link holds two others: not two suspects of half of it, but one.
// A chain that fields enter at several places is one all the same: its first part is one field's, the rest is shared.
TEST(Suspecting, AChainThatSeveralFieldsEnter) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    std::vector<Address> links;
    for (u64 i = 0; i < 1000; ++i) {
      links.push_back(shop.old->object(shop.link));
      if (i)
        shop.store(links[i - 1], 0, links[i]);
    }
    shop.first(links[0]);
    shop.second(links[400]);
    shop.store(shop.holder, 3, links[800]); // no field's: the array's own
    shop.heap.gc.handles.push_back({.type = HandleType::strong, .object = links[700]});
    const Suspects found = shop.suspects();
    ASSERT_EQ(found.list.size(), 1u);
    EXPECT_EQ(found.list[0].kind, Suspect::Kind::chain);
    EXPECT_EQ(found.list[0].owner, "static Shop.Program.s_first and others");
    EXPECT_EQ(found.list[0].elements, 1000u);
    EXPECT_EQ(found.list[0].objects, 1000u);
    EXPECT_EQ(found.list[0].example, links[0]);
  }
}

TEST(Suspecting, ATreeOfOneType) {
  for (const Format format : all_formats) {
    Shop shop({.format = format});
    std::vector<Address> level = {shop.old->object(shop.link)};
    shop.first(level[0]);
    for (u64 depth = 0; depth < 9; ++depth) {
      std::vector<Address> next;
      for (Address above : level)
        for (u64 slot : {0, 1}) {
          next.push_back(shop.old->object(shop.link));
          shop.store(above, slot, next.back());
        }
      level = next;
    }
    const Suspects found = shop.suspects();
    ASSERT_EQ(found.list.size(), 1u);
    EXPECT_EQ(found.list[0].owner, "static Shop.Program.s_first");
    EXPECT_EQ(found.list[0].objects, 1023u);
    EXPECT_EQ(found.list[0].element, "Shop.Link");
    EXPECT_EQ(found.list[0].elements, 1022u); // that the first one holds
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
    EXPECT_EQ(found.list[0].also_held.bytes, 1000u * 5 * shop.p); // the array is the field's alone
    EXPECT_EQ(found.list[0].also_held.by, OwnerRank::framework);
    EXPECT_NE(found.list[0].also_text().find("static fields of the framework hold"), std::string::npos);
  }
}

// A thread that empties a queue holds all of it while it does, and frees nothing of it later.
TEST(Suspecting, WhatOthersHoldTooInWords) {
  Suspect s;
  s.retained = 1000;
  s.also_held = {99, OwnerRank::frames};
  EXPECT_EQ(s.also_text(), "");
  s.also_held.bytes = 950;
  EXPECT_EQ(s.also_text(), "methods on stacks hold 950 B of it, too: only 50 B would be freed at once");
  s.also_held.bytes = 951;
  EXPECT_EQ(s.also_text(), "a thread uses it now: a method on a stack refers to it, too");
  s.also_held = {1200, OwnerRank::plumbing};
  EXPECT_EQ(s.also_text(), "the runtime's queues, or handles, hold all of it, too");
  s.kind = Suspect::Kind::many, s.element = "System.WeakReference", s.elements = 20, s.gone = 10;
  EXPECT_EQ(s.text(), "20 × WeakReference, 50 B each");
  s.gone = 11;
  EXPECT_EQ(s.text(), "20 × WeakReference, 50 B each; the targets of 11 of them are gone");
}

// By the definition: of what has its innermost place there, all that roots of the ranks behind lead to.
TEST(AlsoHeld, AsByTheDefinition) {
  std::mt19937 random(7);
  for (u64 round = 0; round < 40; ++round) {
    Shop shop({.format = all_formats[round % std::size(all_formats)]});
    std::vector<Address> objects;
    for (u64 i = 0; i < 120; ++i)
      objects.push_back(shop.old->object(shop.link));
    for (Address object : objects)
      for (u64 slot : {0, 1})
        if (random() % 5 < 3)
          shop.store(object, slot, objects[random() % objects.size()]);
    shop.first(objects[0]);
    shop.second(objects[1]);
    shop.all(objects[2]);
    shop.heap.gc.handles.push_back({.type = HandleType::strong, .object = objects[3]});
    Snapshot snapshot(shop.heap.target(), SnapshotOptions{});
    const RankedTree ranked(snapshot);
    const DominatorTree &tree = ranked.tree;
    const Edges edges = snapshot.graph().edges();
    std::vector<HeldPlace> places;
    for (u32 at = 1; at < tree.size(); ++at) {
      TreePlace top{at};
      while (tree.parent(top) != TreePlace{0})
        top = tree.parent(top);
      if (const auto owner = tree.owner(top); owner && (tree.owner(TreePlace{at}) || random() % 4 == 0))
        places.push_back({TreePlace{at}, ranked.owners[*owner].rank});
    }
    std::vector<AlsoHeld> expected(places.size());
    for (u64 i = 0; i < places.size(); ++i) {
      std::set<u32> met;
      std::vector<ObjectId> work;
      for (const OwnedRoot &root : ranked.owners.view().roots)
        if (ranked.owners[root.owner].rank > places[i].rank)
          work.push_back(root.object);
      while (!work.empty()) {
        const ObjectId object = work.back();
        work.pop_back();
        if (met.insert(static_cast<u32>(object)).second)
          for (ObjectId target : edges.of(object))
            work.push_back(target);
      }
      for (u32 object : met) {
        const TreePlace at = *tree.place(ObjectId{object});
        u64 innermost = places.size();
        for (u64 k = 0; k < places.size(); ++k) // in the order of the tree: the last one that has it is the innermost
          if (places[k].place <= at && at < tree.end(places[k].place))
            innermost = k;
        if (innermost == i)
          expected[i].bytes += tree.own_bytes(at);
      }
    }
    for (unsigned threads : {1u, 3u}) {
      const std::vector<AlsoHeld> found =
          find_also_held(snapshot.graph(), ranked.owners, tree, places, threads, Watch());
      for (u64 i = 0; i < places.size(); ++i)
        EXPECT_EQ(found[i].bytes, expected[i].bytes) << "round " << round << ", place " << i;
    }
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
    report::Answer reported = answer_report(*shop.snapshot, report); // too small to lead on to
    EXPECT_EQ(text_rows_of(reported, "suspects").at(0)["next"], "dnheap path core @1 --hub 'Shop.Link[]'");
    Question way = report;
    way.subject = "@1";
    EXPECT_EQ(answer_path(*shop.snapshot, way).tables.at(0).name, "paths");
    way.subject = "Shop.Link";
    EXPECT_TRUE(
        answer_path(*shop.snapshot, way).completeness->notes.sentences().at(0).starts_with("--hub has no effect here"));
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
