// The entries of collections: in the order in which the collection lists them, without removed ones; and what lies:
// counts, lengths, nodes that lead back, and types of a known name with other fields. test/programs/entries has the
// kinds as they really are.
#include "analysis/shapes/collections/collection_entries.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using State = CollectionContents::State;
using Addresses = std::vector<Address>;

struct Store : LibraryHeap {
  explicit Store(const HeapShape &shape) : LibraryHeap(shape) {
    MetadataWriter &metadata = heap.app().metadata;
    const char *space = "System.Collections.Generic";
    item = type("Shop", "Item", 0, 3, {"_text"});
    list = type(space, "List", 0, 4, {"_items", "!_size"});
    own = type("Shop", "Basket", list, 5, {"_owner"}, 2);
    queue = type(space, "Queue", 0, 5, {"_array", "!_size", "!_head"});
    stack = type(space, "Stack", 0, 4, {"_array", "!_size"});
    other = type("System.Collections", "ArrayList", 0, 3, {"_rows"});
    linked = type(space, "LinkedList", 0, 4, {"head", "!count"});
    link = type(space, "LinkedListNode", 0, 5, {"next", "prev", "item"});
    wrapper = type("System.Collections.ObjectModel", "Collection", 0, 3, {"items"});
    cache = type("Microsoft.Extensions.Caching.Memory", "MemoryCache", 0, 3, {"_coherentState"});
    cache_state = type("Shop", "CacheState", 0, 4, {"_stringEntries", "_nonStringEntries"});
    cached = type("Shop", "CacheEntry", 0, 3, {"_value"});
    fixed = type("System.Collections.Immutable", "ImmutableSortedDictionary", 0, 3, {"_root"});
    fixed_node = type("Shop", "Node", 0, 6, {"_left", "_right", "_key", "_value"});
    u32 rid = metadata.type("System.Collections.Concurrent", "ConcurrentDictionary");
    concurrent = type_of(rid, 0, 3, {"_tables"}, 0);
    tables = nested(rid, "Tables", 3, {"_buckets"});
    node = nested(rid, "Node", 5, {"_key", "_value", "_next"});
    dictionaries = dictionary_types(ElementType::Object);
    keys = nested(dictionaries.rid, "KeyCollection", 3, {"_dictionary"});
    for (int i = 0; i < 6; ++i)
      items.push_back(old.object(item));
  }
  Address dictionary_of(const std::vector<std::array<u64, 3>> &rows, u64 count) {
    return LibraryHeap::dictionary_of(dictionaries, rows, count);
  }
  Address tree_node(Address left, Address right, u64 key, u64 value) {
    return with(fixed_node, {left, right, items[key], items[value]});
  }

  Address item = 0, list = 0, own = 0, queue = 0, stack = 0, other = 0, linked = 0, link = 0, wrapper = 0, cache = 0,
          cache_state = 0, cached = 0, fixed = 0, fixed_node = 0, concurrent = 0, tables = 0, node = 0, keys = 0;
  DictionaryTypes dictionaries;
  Addresses items;
};

// What is read of a collection: keys and values in turn; of collections without keys the values alone. Where fewer are
// asked for, there are more.
Addresses read(Store &s, Address collection, State state = State::listed, u64 most = ~u64{0}) {
  Snapshot snapshot(s.heap.target(), {});
  snapshot.index();
  CollectionEntries reader(snapshot);
  const CollectionContents contents = reader.read(collection, most);
  EXPECT_EQ(contents.state, state);
  EXPECT_LE(contents.entries.count(), most);
  EXPECT_EQ(contents.is_cut, most != ~u64{0});
  Addresses out;
  CollectionEntry entry;
  u64 count = 0;
  for (EntryList::Cursor cursor(contents.entries); cursor.next(entry); ++count) {
    if (entry.key)
      out.push_back(reader.object_of(entry.key));
    out.push_back(reader.object_of(entry.value));
  }
  EXPECT_EQ(count, contents.entries.count());
  return out;
}

TEST(CollectionEntries, InArrays) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Store s(shape);
    const Addresses &i = s.items;
    const Address array = s.array({i[0], i[1], i[2]}, 1), list = s.with(s.list, {array, 3}),
                  own = s.with(s.own, {array, 2}), queue = s.with(s.queue, {s.array({i[0], i[1], i[2]}), 2, 2}),
                  stack = s.with(s.stack, {array, 3}), empty = s.with(s.list, {0, 0}),
                  long_list = s.with(s.list, {array, 5}), wrong_queue = s.with(s.queue, {array, 2, 9});
    EXPECT_EQ(read(s, list), (Addresses{i[0], i[1], i[2]}));
    EXPECT_EQ(read(s, own), (Addresses{i[0], i[1]})) << "a subclass";
    EXPECT_EQ(read(s, queue), (Addresses{i[2], i[0]})) << "around the end of the array";
    EXPECT_EQ(read(s, stack), (Addresses{i[2], i[1], i[0]}));
    EXPECT_EQ(read(s, empty), Addresses());
    EXPECT_EQ(read(s, array), (Addresses{i[0], i[1], i[2], 0}));
    EXPECT_EQ(read(s, list, State::listed, 2), (Addresses{i[0], i[1]}));
    EXPECT_EQ(read(s, long_list, State::damaged), Addresses());
    EXPECT_EQ(read(s, wrong_queue, State::damaged), Addresses());
    EXPECT_EQ(read(s, i[0], State::none), Addresses());
    EXPECT_EQ(read(s, s.with(s.other, {array}), State::unknown), Addresses());
    EXPECT_EQ(read(s, s.with(s.list, {i[0], 1}), State::unknown), Addresses()) << "not an array";
    EXPECT_EQ(read(s, 0x10, State::none), Addresses());
  }
}

TEST(CollectionEntries, KeysAndValues) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Store s(shape);
    const Addresses &i = s.items;
    const u32 end = ~u32{0}, removed = static_cast<u32>(-3);
    const Address map = s.dictionary_of({{i[0], i[1], end}, {0, 0, removed}, {i[2], i[3], 0}, {i[4], i[5], end}}, 3);
    EXPECT_EQ(read(s, map), (Addresses{i[0], i[1], i[2], i[3]}));
    EXPECT_EQ(read(s, s.with(s.keys, {map})), (Addresses{i[0], i[2]}));
    EXPECT_EQ(read(s, s.dictionary_of({{i[0], i[1], end}}, 9), State::damaged), Addresses());
  }
}

TEST(CollectionEntries, InNodes) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Store s(shape);
    const Addresses &i = s.items;
    const Address third = s.with(s.link, {0, 0, i[2]}), second = s.with(s.link, {third, 0, i[1]}),
                  first = s.with(s.link, {second, 0, i[0]}), chain = s.with(s.linked, {first, 3});
    s.old.store(third + s.p, first, s.p); // the list is a ring
    const Address last = s.with(s.node, {i[2], i[3], 0}), before = s.with(s.node, {i[0], i[1], last}),
                  table = s.with(s.concurrent,
                                 {s.with(s.tables, {s.array({0, before, 0, s.with(s.node, {i[4], i[5], 0})})})});
    const Address empty = s.with(s.fixed_node, {});
    const Address tree =
        s.with(s.fixed, {s.tree_node(s.tree_node(empty, empty, 0, 1), s.tree_node(empty, empty, 4, 5), 2, 3)});
    EXPECT_EQ(read(s, chain), (Addresses{i[0], i[1], i[2]}));
    EXPECT_EQ(read(s, table), (Addresses{i[0], i[1], i[2], i[3], i[4], i[5]}));
    EXPECT_EQ(read(s, tree), (Addresses{i[0], i[1], i[2], i[3], i[4], i[5]}));
    EXPECT_EQ(read(s, tree, State::listed, 1), (Addresses{i[0], i[1]}));
    EXPECT_EQ(read(s, s.with(s.fixed, {empty})), Addresses());
    EXPECT_EQ(read(s, s.with(s.fixed, {0})), Addresses());
  }
}

TEST(CollectionEntries, OfACache) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Store s(shape);
    const Addresses &i = s.items;
    const u32 end = ~u32{0};
    const Address by_string = s.dictionary_of(
                      {{i[0], s.with(s.cached, {i[1]}), end}, {i[2], s.with(s.cached, {i[3]}), end}}, 2),
                  others = s.dictionary_of({{i[4], s.with(s.cached, {i[5]}), end}}, 1),
                  cache = s.with(s.cache, {s.with(s.cache_state, {by_string, others})});
    EXPECT_EQ(read(s, cache), (Addresses{i[0], i[1], i[2], i[3], i[4], i[5]}));
    EXPECT_EQ(read(s, cache, State::listed, 1), (Addresses{i[0], i[1]}));
    EXPECT_EQ(read(s, cache, State::listed, 2), (Addresses{i[0], i[1], i[2], i[3]})) << "the second table is left out";
  }
}

// A reader that does not notice ends the whole program: its stack is used up.
TEST(CollectionEntries, CachesThatHoldThemselves) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Store s(shape);
    const Address state = s.with(s.cache_state, {0, 0}), itself = s.with(s.cache, {state});
    s.old.store(state + s.p, itself, s.p);
    s.old.store(state + 2 * s.p, itself, s.p);
    const Address one_state = s.with(s.cache_state, {0, 0}), one = s.with(s.cache, {one_state}),
                  other = s.with(s.cache, {s.with(s.cache_state, {s.with(s.wrapper, {one}), 0})});
    s.old.store(one_state + s.p, other, s.p);
    EXPECT_EQ(read(s, itself, State::damaged), Addresses());
    EXPECT_EQ(read(s, one, State::damaged), Addresses());
  }
}

TEST(CollectionEntries, WhatLeadsBackEnds) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Store s(shape);
    const Addresses &i = s.items;
    const Address second = s.with(s.link, {0, 0, i[1]}), first = s.with(s.link, {second, 0, i[0]}),
                  chain = s.with(s.linked, {first, 2});
    s.old.store(second + s.p, second, s.p); // to itself, not to the first one
    const Address deep = s.tree_node(0, 0, 0, 1), tree = s.with(s.fixed, {deep});
    s.old.store(deep + s.p, deep, s.p);
    const Address wide = s.tree_node(s.with(s.fixed_node, {}), 0, 0, 1), other_tree = s.with(s.fixed, {wide});
    s.old.store(wide + 2 * s.p, wide, s.p);
    const Address around = s.with(s.wrapper, {0});
    s.old.store(around + s.p, around, s.p);
    EXPECT_GE(read(s, chain, State::damaged).size(), 2u);
    EXPECT_EQ(read(s, tree, State::damaged), Addresses());
    EXPECT_GE(read(s, other_tree, State::damaged).size(), 2u);
    EXPECT_EQ(read(s, around, State::damaged), Addresses());
    EXPECT_EQ(read(s, s.with(s.linked, {0x1238, 1}), State::unknown), Addresses()) << "no node";
  }
}

TEST(EntryList, RunsAreWhatWasAdded) {
  const InstanceField one, two;
  EntryList list;
  for (Address at : {8, 16, 24, 100, 92, 84, 7})
    list.add({{}, {&one, at}});
  list.add({{}, {&two, 0}});
  list.add({{}, {&one, 1000}}, 3, 0, -8);
  Addresses found;
  CollectionEntry entry;
  for (EntryList::Cursor cursor(list); cursor.next(entry);)
    found.push_back(entry.value.at);
  EXPECT_EQ(found, (Addresses{8, 16, 24, 100, 92, 84, 7, 0, 1000, 992, 984}));
  EXPECT_EQ(list.count(), found.size());
}

} // namespace
} // namespace dnheap::test
