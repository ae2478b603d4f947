// `inspect asynclocals`: contexts with maps of each shape, what captured them, and which values a call in flight
// carries; maps of another shape are said to be unknown.
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct AsyncLocals : LibraryHeap {
  explicit AsyncLocals(const HeapShape &shape) : LibraryHeap(shape) {
    MetadataWriter &metadata = heap.app().metadata;
    const char *threading = "System.Threading", *item = "_item0";
    const u32 pair_rid = metadata.type("System.Collections.Generic", "KeyValuePair"), word = static_cast<u32>(p);
    const Address pair = heap.method_table({.base_size = 4 * word, .flags = 0x40000, .rid = pair_rid});
    heap.fields(pair,
                {{metadata.field("key", field_signature(element(ElementType::Object))), ElementType::Class, 0},
                 {metadata.field("value", field_signature(element(ElementType::Object))), ElementType::Class, word}});
    heap.value_type(pair, ElementType::ValueType, 2 * p);
    pairs = heap.array(pair, 2 * word);
    context = type(threading, "ExecutionContext", 0, 4, {"m_localValues", "m_localChangeNotifications"});
    local = type(threading, "AsyncLocal", 0, 3, {"m_valueChangedHandler"});
    const u32 maps = metadata.type(threading, "AsyncLocalValueMap");
    empty = nested(maps, "EmptyAsyncLocalValueMap", 3, {});
    one = heap.method_table(
        {.base_size = 4 * word, .rid = metadata.nested(maps, "OneElementAsyncLocalValueMap"), .series = {{p, 2 * p}}});
    heap.fields(one, {{metadata.field(item, field_signature(type_reference(ElementType::ValueType,
                                                                           token(Table::TypeDef, pair_rid)))),
                       ElementType::ValueType, 0}});
    several = nested(maps, "MultiElementAsyncLocalValueMap", 3, {"_keyValues"});
    many = nested(maps, "ManyElementAsyncLocalValueMap", 5, {"!_count", "_entries"});
    other = nested(maps, "OtherAsyncLocalValueMap", 3, {"_words"});
    timer = type(threading, "TimerQueueTimer", 0, 5, {"_executionContext", "_timerCallback"});
    thread = type(threading, "Thread", 0, 3, {"_executionContext"});
    order = type("Shop", "Order", 0, 4, {"_code"});
    ambient = type("Shop", "Ambient", 0, 4, {"_order", "_number"});
  }
  Address array_of(const std::vector<std::pair<Address, Address>> &values) {
    const Address at = old.object(pairs, values.size());
    for (u64 i = 0; i < values.size(); ++i) {
      old.store(at + (2 + 2 * i) * p, values[i].first, p);
      old.store(at + (3 + 2 * i) * p, values[i].second, p);
    }
    return at;
  }
  Address with_one(Address key, Address value) {
    const Address at = old.object(one);
    old.store(at + p, key, p);
    old.store(at + 2 * p, value, p);
    return with(context, {at});
  }
  Address with_several(const std::vector<std::pair<Address, Address>> &values) {
    return with(context, {with(several, {array_of(values)})});
  }
  Address with_many(const std::vector<std::pair<Address, Address>> &values, u32 count) {
    return with(context, {with(many, {count, array_of(values)})});
  }
  void captured(Address by_timer) { with(timer, {by_timer, 0}); }

  Address pairs = 0, context = 0, local = 0, empty = 0, one = 0, several = 0, many = 0, other = 0, timer = 0,
          thread = 0, order = 0, ambient = 0;
};

TEST(InspectAsyncLocals, MapsAndCaptors) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    AsyncLocals s(shape);
    const Address of_order = s.with(s.local, {0}), of_number = s.with(s.local, {0});
    s.with(s.ambient, {of_order, of_number});
    auto made = [&] { return s.with(s.order, {0}); };
    Address shared = made(), first = 0;
    for (int i = 0; i < 6; ++i) {
      const Address at = i < 2   ? s.with_one(of_order, made())
                         : i < 4 ? s.with_several({{of_order, made()}, {of_number, shared}, {of_number, 0}})
                                 : s.with_many({{of_order, made()}, {of_number, shared}, {0, 0}}, 3);
      first = first ? first : at;
      s.captured(at);
    }
    const Address flows = made();
    s.with(s.thread, {s.with_one(of_order, flows)});
    s.captured(s.with_one(of_order, flows));
    s.captured(s.with(s.context, {s.with(s.empty, {})}));
    s.captured(s.with(s.context, {0}));
    report::Answer answer = inspected(s.heap, "asynclocals");
    std::vector<TextRow> rows = text_rows_of(answer, "asynclocals");
    ASSERT_EQ(rows.size(), 3u) << notes_of(answer);
    EXPECT_EQ(rows[0]["count"], "8");
    EXPECT_EQ(rows[0]["values"], "7");
    EXPECT_EQ(rows[0]["bytes"], std::to_string(7 * 4 * s.p));
    EXPECT_EQ(rows[0]["kept"], "6");
    EXPECT_EQ(rows[0]["local"], "Shop.Ambient._order");
    EXPECT_EQ(rows[0]["local_type"], "System.Threading.AsyncLocal");
    EXPECT_EQ(rows[0]["value_type"], "Shop.Order");
    EXPECT_EQ(rows[0]["captured"], "7");
    EXPECT_EQ(rows[0]["held_by"], "System.Threading.TimerQueueTimer._executionContext");
    EXPECT_EQ(rows[0]["example"], hex(first));
    EXPECT_EQ(rows[1]["count"], "4");
    EXPECT_EQ(rows[1]["values"], "1");
    EXPECT_EQ(rows[1]["local"], "Shop.Ambient._number");
    EXPECT_EQ(rows[2]["count"], "2");
    EXPECT_EQ(rows[2]["values"], "0");
    EXPECT_EQ(rows[2]["value_type"], "");
    EXPECT_EQ(unknown_notes_of(answer), "");
    EXPECT_EQ(answer.next_command, "dnheap path core " + hex(first));
  }
}

TEST(InspectAsyncLocals, OfAnotherShape) {
  AsyncLocals s({});
  const Address key = s.with(s.local, {0});
  s.with_one(key, s.with(s.order, {0}));
  s.with(s.context, {s.with(s.other, {0})});
  s.with_many({{key, 0}}, 2);          // more than the array has
  s.with_many({{key, 0}}, 0xfffffff0); // than can be
  s.with_one(0x1234, 0x1234);          // no objects
  s.with(s.context, {0x1234});
  report::Answer answer = inspected(s.heap, "asynclocals");
  EXPECT_EQ(text_rows_of(answer, "asynclocals").size(), 1u);
  EXPECT_EQ(unknown_notes_of(answer), unknown_shape(3, "System.Threading.ExecutionContext", "it"));
}

} // namespace
} // namespace dnheap::test
