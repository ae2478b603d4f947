// `inspect collections` on what has no array of its own: nodes, chains, segments, wrappers; and counts that lie.
#include "analysis/waste.h"
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
    heap_table = type("System.Collections", "Hashtable", 0, 4, {"_buckets", "!_count"});
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
          bag = 0, segment = 0, fixed = 0, fixed_node = 0, heap_table = 0;
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
    EXPECT_NE(notes_of(answer).find("chains of elements that share links"), std::string::npos) << notes_of(answer);
  }
}

TEST(InspectCollections, OnlyWhatHasRoomIsWaste) {
  Depot s({});
  s.held(s.linked_list(0, 0));
  s.held(s.with(s.sorted, {s.with(s.node, {}), 1}));
  s.held(s.with(s.bag, {s.queue_of_bag(64, 0, 0, 0)}));
  s.held(s.with(s.heap_table, {s.array({}, 10), 1}));
  SnapshotOptions options;
  Snapshot snapshot(s.heap.target(), options);
  u64 collections = 0;
  for (const WasteRow &row : find_waste(snapshot).rows)
    if (row.kind == WasteKind::empty_collections || row.kind == WasteKind::one_element_collections) {
      EXPECT_EQ(row.what, "System.Collections.Hashtable");
      ++collections;
    }
  EXPECT_EQ(collections, 1u);
}

} // namespace
} // namespace dnheap::test
