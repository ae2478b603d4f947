// `show` lists the entries of a collection, and the table `entries` of `query` those of many; `objects` lists and sums
// up fields of objects. Contents with --values only.
#include "base/not_found.h"
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Shelf : LibraryHeap {
  explicit Shelf(const HeapShape &shape) : LibraryHeap(shape) {
    const char *space = "System.Collections.Generic";
    list = type(space, "List", 0, 4, {"_items", "!_size"});
    strange = type(space, "Stack", 0, 3, {"_rows"});
    customer = type("Shop", "Customer", 0, 3, {"!_level"});
    order = type("Shop", "Order", 0, 5, {"!_state", "_customer", "<Next>k__BackingField"});
    for (u32 i = 0; i < 2; ++i)
      customers.push_back(with(customer, {10 + i}));
    for (u32 i = 0; i < 5; ++i)
      orders.push_back(with(order, {i % 3, i == 4 ? 0 : customers[i % 2], i ? orders[i - 1] : 0}));
    const DictionaryTypes dictionaries = dictionary_types(ElementType::I4);
    by_number = dictionary_of(dictionaries, {{7, orders[0], ~u32{0}}, {8, orders[1], ~u32{0}}}, 2);
    by_list = with(list, {array(orders), 3});
  }
  std::vector<TextRow> rows(const char *verb, const char *table, const Question &question) {
    report::Answer answer = answer_of(heap, verb, question);
    notes = notes_of(answer);
    return text_rows_of(answer, table);
  }
  std::vector<TextRow> shown(Address object, bool values, u64 top = 0) {
    return rows("show", "entries", {.subject = hex(object), .values = values, .top = top});
  }
  std::vector<TextRow> asked(const std::string &sql, bool values = true) {
    return rows("query", "rows", {.subject = sql, .values = values});
  }

  Address list = 0, strange = 0, customer = 0, order = 0, by_number = 0, by_list = 0;
  std::vector<Address> customers, orders;
  std::string notes;
};

TEST(Entries, AreShown) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shelf s(shape);
    std::vector<TextRow> rows = s.shown(s.by_number, true);
    ASSERT_EQ(rows.size(), 2u) << s.notes;
    EXPECT_EQ(rows[1]["position"], "1");
    EXPECT_EQ(rows[1]["key"], "8");
    EXPECT_EQ(rows[1]["key_object"], "");
    EXPECT_EQ(rows[1]["key_type"], "System.Int32");
    EXPECT_EQ(rows[1]["value"], "");
    EXPECT_EQ(rows[1]["value_object"], hex(s.orders[1]));
    EXPECT_EQ(rows[1]["value_type"], "Shop.Order");
    rows = s.shown(s.by_number, false);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["key"], "") << "contents without --values";
    EXPECT_EQ(rows[0]["value_object"], hex(s.orders[0]));
    EXPECT_EQ(s.shown(s.by_list, false).size(), 3u);
    EXPECT_EQ(s.shown(s.by_list, false, 1).size(), 2u) << "one more, so that the answer can say so";
  }
}

TEST(Entries, ABrokenCollectionSaysSo) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shelf s(shape);
    const Address strange = s.with(s.strange, {s.array(s.orders)}), too_long = s.with(s.list, {s.array(s.orders), 99});
    EXPECT_TRUE(s.shown(strange, true).empty());
    EXPECT_NE(s.notes.find("System.Collections.Generic.Stack does not have the fields"), s.notes.npos) << s.notes;
    EXPECT_TRUE(s.shown(too_long, true).empty());
    EXPECT_NE(s.notes.find("the entries after the first 0 are not listed"), s.notes.npos) << s.notes;
    s.shown(s.by_list, true);
    EXPECT_EQ(s.notes.find("entries"), s.notes.npos) << s.notes;
  }
}

TEST(Entries, AreATable) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shelf s(shape);
    std::vector<TextRow> rows = s.asked("select * from entries where collection = " + hex(s.by_number));
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["collection"], hex(s.by_number));
    EXPECT_EQ(rows[0]["key"], "7");
    EXPECT_EQ(rows[0]["value_object"], hex(s.orders[0]));
    EXPECT_EQ(s.asked("select key from entries where collection = " + hex(s.by_number), false)[0]["key"], "");
    rows = s.asked("select t.name, count(*) n from entries e join objects o on o.address = e.collection join types t "
                   "on t.id = o.type "
                   "group by 1 order by 1");
    ASSERT_GE(rows.size(), 3u) << "dictionary, list, and the list's array";
    EXPECT_EQ(s.asked("select 1 from entries where collection = " + hex(s.orders[0])).size(), 0u);
    EXPECT_EQ(s.asked("select 1 from entries where collection = 3").size(), 0u);
    EXPECT_THROW(s.asked("select * from entries"), UsageError);
    EXPECT_THROW(s.asked("select * from entries where position = 1"), UsageError);
  }
}

TEST(Instances, WithFields) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shelf s(shape);
    Question question{.type_exact = "Shop.Order", .values = true};
    question.fields = {"_state", "_customer._level", "Next"};
    std::vector<TextRow> rows = s.rows("objects", "objects", question);
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(rows[1]["address"], hex(s.orders[1]));
    EXPECT_EQ(rows[1]["fields"], "_state=1,_customer._level=11,Next=" + hex(s.orders[0]));
    EXPECT_EQ(rows[4]["fields"], "_state=1,_customer._level=,Next=" + hex(s.orders[3]));
    question.values = false;
    EXPECT_EQ(s.rows("objects", "objects", question)[1]["fields"],
              "_state=,_customer._level=,Next=" + hex(s.orders[0]));
    question.fields = {"_nothing"};
    EXPECT_THROW(s.rows("objects", "objects", question), UsageError);
    for (const char *odd : {"_customer..x", "._state", "_state._level"}) {
      question.fields = {"_state", odd};
      try {
        EXPECT_EQ(s.rows("objects", "objects", question).size(), 5u) << odd;
      } catch (const UsageError &) {
      }
    }
  }
}

TEST(Instances, ByTheValueOfAField) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shelf s(shape);
    Question question{.type_exact = "Shop.Order", .values = true};
    question.by_field = "_state";
    std::vector<TextRow> rows = s.rows("objects", "groups", question);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0]["value"], "0");
    EXPECT_EQ(rows[0]["objects"], "2");
    EXPECT_EQ(rows[0]["bytes"], std::to_string(2 * 5 * s.p));
    EXPECT_EQ(rows[0]["example"], hex(s.orders[0]));
    EXPECT_EQ(rows[2]["value"], "2");
    question.by_field = "_customer";
    rows = s.rows("objects", "groups", question);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0]["value_object"], hex(s.customers[0]));
    EXPECT_EQ(rows[2]["value_object"], "");
    question.values = false;
    EXPECT_THROW(s.rows("objects", "groups", question), UsageError);
  }
}

// A struct with more fields than its text has: those that differ in the last one are two groups.
TEST(Instances, ByAStructThatIsNotShownAsAWhole) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shelf s(shape);
    constexpr u32 count = 70, size = 4 * count;
    MetadataWriter &metadata = s.heap.app().metadata;
    const u32 rid = metadata.type("Shop", "Wide");
    const u32 p = static_cast<u32>(s.p);
    const Address wide = s.heap.method_table({.base_size = 2 * p + size, .flags = 0x40000, .rid = rid});
    std::vector<FieldShape> fields;
    for (u32 i = 0; i < count; ++i)
      fields.push_back(
          {metadata.field("_" + std::to_string(i), field_signature(element(ElementType::I4))), ElementType::I4, 4 * i});
    s.heap.fields(wide, fields);
    s.heap.value_type(wide, ElementType::ValueType, size);
    const Address box = s.heap.method_table({.base_size = 2 * p + size, .rid = metadata.type("Shop", "Box")});
    s.heap.fields(
        box,
        {{metadata.field("_wide", field_signature(type_reference(ElementType::ValueType, token(Table::TypeDef, rid)))),
          ElementType::ValueType, 0}});
    for (u64 last : {1, 2, 1})
      s.old.store(s.old.object(box) + p + 4 * (count - 1), last, 4);
    Question question{.type_exact = "Shop.Box", .values = true};
    question.by_field = "_wide";
    std::vector<TextRow> rows = s.rows("objects", "groups", question);
    ASSERT_EQ(rows.size(), 2u) << s.notes;
    EXPECT_EQ(rows[0]["objects"], "2");
    EXPECT_EQ(rows[1]["objects"], "1");
    EXPECT_NE(rows[0]["value"].find(", …"), std::string::npos) << rows[0]["value"];
  }
}

TEST(Instances, WithRetainedSizes) {
  Shelf s(HeapShape{});
  s.heap.gc.handles = {{.type = HandleType::strong, .object = s.orders[4]}};
  std::vector<TextRow> rows = s.rows("objects", "objects", {.type_exact = "Shop.Order", .by = "retained"});
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0]["address"], hex(s.orders[4]));
  EXPECT_EQ(rows[0]["retained"], std::to_string(5 * 5 * s.p + 2 * 3 * s.p));
  EXPECT_EQ(rows[4]["address"], hex(s.orders[0]));
}

} // namespace
} // namespace dnheap::test
