// `inspect collections` on what has no array of its own: nodes, chains, segments, wrappers; and counts that lie.
#include "analysis/waste/waste.h"
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Depot : LibraryHeap {
  explicit Depot(const HeapShape &shape) : LibraryHeap(shape) {
    owner = type("Shop", "Depot", 0, 3, {"_held"});
    linked = type("System.Collections.Generic", "LinkedList", 0, 4, {"head", "!count"});
    linked_node = type("System.Collections.Generic", "LinkedListNode", 0, 5, {"list", "next", "prev"});
    sorted = type("System.Collections.Generic", "SortedSet", 0, 4, {"root", "!count"});
    tree = type("System.Collections.Generic", "TreeSet", sorted, 4, {}, 2);
    by_key = type("System.Collections.Generic", "SortedDictionary", 0, 3, {"_set"});
    node = type("Shop", "Node", 0, 6, {"left", "right"});
    MetadataWriter &metadata = heap.app().metadata;
    u32 rid = metadata.type("System.Collections.Concurrent", "ConcurrentStack");
    stack = type_of(rid, 0, 3, {"_head"}, 0);
    link = nested(rid, "Node", 4, {"_next"});
    rid = metadata.type("System.Collections.Concurrent", "ConcurrentBag");
    bag = type_of(rid, 0, 3, {"_workStealingQueues"}, 0);
    segment = nested(rid, "WorkStealingQueue", 6, {"_nextQueue", "_array", "!_headIndex", "!_tailIndex"});
    rid = metadata.type("System.Collections.Immutable", "ImmutableList");
    fixed = type_of(rid, 0, 3, {"_root"}, 0);
    fixed_node = nested(rid, "Node", 5, {"_left", "_right", "!_count"});
    rid = metadata.type("System.Collections", "Hashtable");
    heap_table = type_of(rid, 0, 4, {"_buckets", "!_count"}, 0);
    lent_table = type_of(metadata.nested(rid, "SyncHashtable"), heap_table, 5, {"_table"}, 2);
    rid = metadata.type("System.Collections.Concurrent", "ConcurrentDictionary");
    concurrent = type_of(rid, 0, 3, {"_tables"}, 0);
    tables = nested(rid, "Tables", 5, {"_buckets", "_locks", "_countPerLock"});
    concurrent_node = nested(rid, "Node", 6, {"_value", "_next"});
    builder = type("System.Text", "StringBuilder", 0, 6,
                   {"m_ChunkChars", "m_ChunkPrevious", "!m_ChunkLength", "!m_ChunkOffset"});
    rid = metadata.type("System.Runtime.CompilerServices", "ConditionalWeakTable");
    weak_table = type_of(rid, 0, 3, {"_container"}, 0);
    container = nested(rid, "Container", 6, {"_parent", "_buckets", "_entries", "!_firstFreeEntry"});
    integers = heap.array(heap.object_type, 4);
  }
  Address numbers(const std::vector<u32> &values) {
    const Address at = old.object(integers, values.size());
    for (u64 i = 0; i < values.size(); ++i)
      old.store(at + 2 * p + 4 * i, values[i], 4);
    return at;
  }
  Address held(Address collection) {
    with(owner, {collection});
    return collection;
  }
  Address linked_list(u64 count, u64 said) {
    const Address first = count ? old.object(linked_node) : 0, list = with(linked, {first, said});
    for (Address at = first; at; --count) {
      const Address next = count > 1 ? old.object(linked_node) : 0;
      old.store(at + p, list, p);
      old.store(at + 2 * p, next ? next : first, p);
      at = next;
    }
    return list;
  }
  Address queue_of_bag(u64 places, u32 head, u32 tail, Address next) {
    return with(segment, {next, array({}, places), head, tail});
  }

  Address owner = 0, linked = 0, linked_node = 0, sorted = 0, tree = 0, by_key = 0, node = 0, stack = 0, link = 0,
          bag = 0, segment = 0, fixed = 0, fixed_node = 0, heap_table = 0, lent_table = 0, concurrent = 0, tables = 0,
          concurrent_node = 0, builder = 0, weak_table = 0, container = 0, integers = 0;
};

// The only row of a type.
TextRow row_of(const std::vector<TextRow> &rows, const std::string &type) {
  std::vector<TextRow> found;
  for (const TextRow &row : rows)
    if (row.at("type") == type)
      found.push_back(row);
  EXPECT_EQ(found.size(), 1u) << type;
  return found.empty() ? TextRow() : found[0];
}

void expect_row(TextRow row, u64 elements, u64 bytes) {
  EXPECT_EQ(row["count"], "1");
  EXPECT_EQ(row["elements"], std::to_string(elements));
  EXPECT_EQ(row["bytes"], std::to_string(bytes));
  EXPECT_EQ(row["held_by"], "Shop.Depot._held");
}

TEST(InspectCollections, NodesAndWhatTheyReferBackTo) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Depot s(shape);
    s.held(s.linked_list(3, 3));
    s.held(s.with(s.sorted, {s.with(s.node, {}), 7}));
    s.held(s.with(s.by_key, {s.with(s.tree, {s.with(s.node, {}), 4})}));
    s.held(s.with(s.fixed, {s.with(s.fixed_node, {0, 0, 2})}));
    s.held(s.with(s.heap_table, {s.array({}, 10), 6}));
    report::Answer answer = inspected(s.heap, "collections");
    const std::vector<TextRow> rows = text_rows_of(answer, "collections");
    EXPECT_EQ(rows.size(), 5u) << notes_of(answer);
    const u64 p = s.p;
    expect_row(row_of(rows, "System.Collections.Generic.LinkedList"), 3, 4 * p + 3 * 5 * p);
    expect_row(row_of(rows, "System.Collections.Generic.SortedSet"), 7, 4 * p + 7 * 6 * p);
    expect_row(row_of(rows, "System.Collections.Generic.SortedDictionary"), 4, 3 * p + 4 * p + 4 * 6 * p);
    expect_row(row_of(rows, "System.Collections.Immutable.ImmutableList"), 2, 3 * p + 2 * 5 * p);
    EXPECT_EQ(row_of(rows, "System.Collections.Generic.LinkedList")["capacity"], "");
    TextRow table = row_of(rows, "System.Collections.Hashtable");
    expect_row(table, 6, 4 * p + s.heap.size_of(s.heap.object_array_type, 10));
    EXPECT_EQ(table["capacity"], "10");
  }
}

TEST(InspectCollections, ChainsAndSegments) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Depot s(shape);
    s.held(s.with(s.stack, {s.with(s.link, {s.with(s.link, {s.with(s.link, {})})})}));
    const Address third = s.queue_of_bag(4, 9, 9, 0),                  // empty
        second = s.queue_of_bag(8, 0xfffffffe, 0xfffffffe + 8, third), // full
        frozen = s.queue_of_bag(4, 1, 9, second),                      // as a queue's segment that takes no more
        first = s.queue_of_bag(8, 0xfffffffe, 3, frozen);
    s.held(s.with(s.bag, {first}));
    report::Answer answer = inspected(s.heap, "collections");
    const std::vector<TextRow> rows = text_rows_of(answer, "collections");
    const u64 p = s.p;
    expect_row(row_of(rows, "System.Collections.Concurrent.ConcurrentStack"), 3, 3 * p + 3 * 4 * p);
    expect_row(row_of(rows, "System.Collections.Concurrent.ConcurrentBag"), 5 + 8,
               3 * p + 4 * 6 * p + 2 * s.heap.size_of(s.heap.object_array_type, 8) +
                   2 * s.heap.size_of(s.heap.object_array_type, 4));
    EXPECT_TRUE(unknown_notes_of(answer).empty());
  }
}

TEST(InspectCollections, ChunksOfABuilderAreOne) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Depot s(shape);
    const Address first = s.with(s.builder, {s.array({}, 16), 0, 16, 0}),
                  second = s.with(s.builder, {s.array({}, 32), first, 30, 16});
    s.held(s.with(s.builder, {s.array({}, 64), second, 5, 46}));
    report::Answer answer = inspected(s.heap, "collections");
    const std::vector<TextRow> rows = text_rows_of(answer, "collections");
    TextRow row = row_of(rows, "System.Text.StringBuilder");
    u64 arrays = 0;
    for (u64 places : {16u, 32u, 64u})
      arrays += s.heap.size_of(s.heap.object_array_type, places);
    expect_row(row, 51, 3 * 6 * s.p + arrays);
    EXPECT_EQ(row["capacity"], "110");
    Snapshot snapshot(s.heap.target(), {});
    for (const WasteRow &waste : find_waste(snapshot).rows)
      EXPECT_NE(waste.kind, WasteKind::over_allocated_collections); // 51 of 110 are used
  }
}

TEST(InspectCollections, WhatIsInsideIsToldOutside) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Depot s(shape);
    const u64 p = s.p;
    // A table of which some have outgrown the container, which is still there.
    const Address weak = s.held(s.with(s.weak_table, {0}));
    s.with(s.container, {weak, s.array({}, 4), s.array({}, 4), 4});
    s.old.store(weak + p, s.with(s.container, {weak, s.array({}, 8), s.array({}, 8), 5}), p);
    // What lends itself to a table has no elements of its own.
    s.with(s.owner, {s.with(s.lent_table, {0, 0, s.held(s.with(s.heap_table, {s.array({}, 10), 6}))})});
    const Address locks = s.array({}, 3); // the first lock is the array itself
    for (u64 i = 0; i < 3; ++i)
      s.old.store(locks + (2 + i) * p, i ? s.old.object(s.node) : locks, p);
    const Address buckets =
        s.array({0, s.with(s.concurrent_node, {}), 0, s.with(s.concurrent_node, {})}, 4); // eight places
    s.held(s.with(s.concurrent, {s.with(s.tables, {buckets, locks, s.numbers({1, 1, 0})})}));
    report::Answer answer = inspected(s.heap, "collections");
    const std::vector<TextRow> rows = text_rows_of(answer, "collections");
    EXPECT_EQ(rows.size(), 3u) << notes_of(answer);
    const auto array = [&](u64 places) { return s.heap.size_of(s.heap.object_array_type, places); };
    expect_row(row_of(rows, "System.Runtime.CompilerServices.ConditionalWeakTable"), 5, 3 * p + 6 * p + 2 * array(8));
    expect_row(row_of(rows, "System.Collections.Hashtable"), 6, 4 * p + array(10));
    expect_row(row_of(rows, "System.Collections.Concurrent.ConcurrentDictionary"), 2,
               3 * p + 5 * p + array(4 + 4) + array(3 + 0) + align_up(s.heap.size_of(s.integers, 3), p) + 2 * 6 * p +
                   2 * 6 * p);
  }
}

// A table that has grown has the array of its earlier locks for its first one: of another size than the others.
TEST(InspectCollections, LocksOfATableThatHasGrown) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Depot s(shape);
    const u64 p = s.p;
    const Address locks = s.array({s.array({}, 9), s.old.object(s.node), s.old.object(s.node)});
    s.held(s.with(s.concurrent, {s.with(s.tables, {s.array({}, 4), locks, s.numbers({0, 0, 0})})}));
    report::Answer answer = inspected(s.heap, "collections");
    const auto array = [&](u64 places) { return s.heap.size_of(s.heap.object_array_type, places); };
    expect_row(row_of(text_rows_of(answer, "collections"), "System.Collections.Concurrent.ConcurrentDictionary"), 0,
               3 * p + 5 * p + array(4) + array(3) + align_up(s.heap.size_of(s.integers, 3), p) + array(9) + 2 * 6 * p);
  }
}

TEST(InspectCollections, WhatCannotBeIsNotTold) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Depot s(shape);
    s.linked_list(1, 0x7fffffff); // more than the heap has objects
    s.linked_list(0, 1);
    s.with(s.bag, {s.queue_of_bag(6, 0, 1, 0)}); // no power of two
    s.with(s.bag, {s.with(s.stack, {})});
    s.with(s.by_key, {s.with(s.by_key, {})});
    s.with(s.fixed, {0});
    s.with(s.heap_table, {s.array({}, 3), 4});
    const Address one = s.with(s.link, {});
    s.old.store(one + s.p, s.with(s.link, {one}), s.p); // a circle
    s.with(s.stack, {one});
    report::Answer answer = inspected(s.heap, "collections");
    std::vector<TextRow> rows = text_rows_of(answer, "collections");
    ASSERT_EQ(rows.size(), 1u) << rows[1]["type"] << rows[0]["type"];
    EXPECT_EQ(rows[0]["type"], "System.Collections.Concurrent.ConcurrentStack");
    EXPECT_EQ(rows[0]["count"], "1"); // the empty one
    EXPECT_EQ(unknown_notes_of(answer), "");
    EXPECT_NE(notes_of(answer).find("some collections share links of their chains"), std::string::npos)
        << notes_of(answer);
  }
}

TEST(InspectCollections, OnlyWhatHasRoomIsWaste) {
  Depot s({});
  s.held(s.linked_list(0, 0));
  s.held(s.with(s.sorted, {s.with(s.node, {}), 1}));
  s.held(s.with(s.bag, {s.queue_of_bag(64, 0, 0, 0)}));
  s.held(s.with(s.heap_table, {s.array({}, 10), 1}));
  Address next = 0;
  for (int i = 0; i < 4; ++i)
    next = s.with(s.segment, {next, s.numbers({1, 2, 3, 4, 5, 6, 7, 8}), 0, 8});
  s.held(s.with(s.bag, {next}));
  SnapshotOptions options;
  Snapshot snapshot(s.heap.target(), options);
  u64 collections = 0;
  for (const WasteRow &row : find_waste(snapshot).rows) {
    EXPECT_NE(row.kind, WasteKind::duplicate_arrays); // those of segments are their own
    if (row.kind == WasteKind::empty_collections || row.kind == WasteKind::one_element_collections) {
      EXPECT_EQ(row.what, "System.Collections.Hashtable");
      ++collections;
    }
  }
  EXPECT_EQ(collections, 1u);
}

} // namespace
} // namespace dnheap::test
