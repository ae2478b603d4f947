#include "base/error.h"
#include "dump/records/heap_events.h"
#include "support/nettrace_writer.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

using test::ListedHeap;

HeapEvents taken(const ListedHeap &how) {
  HeapEvents out;
  NettraceParser *parser = nullptr;
  NettraceParser of(
      [&](const NettraceEvent &event) { out.take(event, parser->pointer_size(), parser->ticks_per_second()); });
  parser = &of;
  of.feed(test::listed_heap(how).finished());
  return out;
}

std::string heap_events_error(const ListedHeap &how) {
  try {
    taken(how).check();
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(HeapEvents, ListsObjectsWithTheirReferences) {
  const HeapEvents events = taken({});
  EXPECT_TRUE(events.is_complete());
  events.check();
  EXPECT_DOUBLE_EQ(events.pause_seconds().value_or(0), 0.012); // from the first event to the last but one
  std::vector<std::string> seen;
  events.listed().for_each(0, events.listed().entries(), [&](const ListedObject &object) {
    std::string text = std::to_string(object.type) + ":" + std::to_string(object.size);
    for (Address target : object.references)
      text += target == ListedHeap::text ? " text" : target == ListedHeap::array ? " array" : " node";
    seen.push_back(text);
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"1:24 text array", "2:30", "3:40 node"}));
}

TEST(HeapEvents, FillsARecord) {
  HeapRecord record;
  taken({}).fill(record);
  ASSERT_EQ(record.types.size(), 4);
  EXPECT_EQ(record.types[1].name, "Shop.Node<System.Int32>");
  EXPECT_EQ(record.types[1].assembly, "Shop.dll");
  EXPECT_EQ(record.types[3].name, "Shop.Node<System.Int32>[]") << "named by its elements' type";
  ASSERT_EQ(record.roots.size(), 3) << "a weak handle is no root";
  EXPECT_EQ(record.roots[0].kind, HeapRecord::RootKind::pinned_handle);
  EXPECT_EQ(record.roots[1].kind, HeapRecord::RootKind::stack);
  EXPECT_EQ(record.roots[2].kind, HeapRecord::RootKind::static_field);
  EXPECT_EQ(record.names[record.roots[2].name], "first (System.String)");
  using Pairs = std::vector<std::pair<Address, Address>>;
  EXPECT_EQ(record.hidden, (Pairs{{ListedHeap::text, ListedHeap::array}})) << "a dead key keeps nothing";
  ASSERT_EQ(record.segments.size(), 1);
  EXPECT_EQ(record.segments[0].generation, 2);
}

TEST(HeapEvents, LostEventsAreAnError) {
  EXPECT_EQ(heap_events_error({}), "");
  EXPECT_TRUE(heap_events_error({.first_index = 1}).starts_with("the process lost events of its collection"));
  EXPECT_TRUE(heap_events_error({.node_degree = 3}).starts_with("the process lost events of its collection"));
}

TEST(HeapEvents, ACollectionWithoutEndIsNotComplete) { EXPECT_FALSE(taken({.with_end = false}).is_complete()); }

TEST(HeapEvents, TypesThatWereNotSentHaveNoName) {
  const HeapEvents events = taken({.with_types = false});
  EXPECT_EQ(events.nameless_types(), 3);
  HeapRecord record;
  events.fill(record);
  EXPECT_EQ(record.types[1].name, "(unknown type 0x100)");
}

TEST(HeapEvents, NamesOfTypes) {
  EXPECT_EQ(name_of_event_type("System.Collections.Generic.Dictionary`2[System.String,System.Int32[]]"),
            "System.Collections.Generic.Dictionary<System.String, System.Int32[]>");
  EXPECT_EQ(name_of_event_type("A`1[B`2[C,D[,]]][]"), "A<B<C, D[,]>>[]");
  EXPECT_EQ(name_of_event_type("Shop.Cart+<>c"), "Shop.Cart+<>c");
  EXPECT_EQ(name_of_event_type("]["), "]<");
}

TEST(EventObjects, KeepsLargeNumbersAndLeavesOutAddressesThatNoProcessHas) {
  EventObjects objects;
  constexpr u64 many = 70000, huge = u64{5} << 32;
  objects.add_object(0x7fffffff0000, 1, huge, many);
  objects.add_object(u64{1} << 60, 2, 24, 1);
  objects.add_object(0x1000, 3, 24, 1);
  for (u64 i = 0; i < many + 2; ++i)
    objects.add_reference(0x1000);
  u64 seen = 0;
  objects.for_each(0, 3, [&](const ListedObject &object) {
    seen += object.type;
    EXPECT_EQ(object.references.size(), object.type == 1 ? many : 1);
    EXPECT_EQ(object.size, object.type == 1 ? huge : 24);
  });
  EXPECT_EQ(seen, 4);
  EXPECT_EQ(objects.odd(), 1);
}

} // namespace
} // namespace dnheap
