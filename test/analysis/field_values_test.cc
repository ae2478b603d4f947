// What `show` says of fields and elements, in every layout.
#include "analysis/field_values.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u32 value_category = 0x40000;

std::string text(const report::Cell &cell) { return cell.is_absent() ? "-" : std::string(*cell.text()); }

// A type with an integer, a reference and a struct that has a reference, a character and a truth value; and arrays.
struct Process {
  explicit Process(const HeapShape &shape) : heap(shape), p(static_cast<u32>(heap.p)) {
    entry_rid = heap.app().metadata.type("Shop", "Entry");
    entry = heap.method_table({.base_size = 4 * p, .flags = value_category, .rid = entry_rid});
    std::vector<FieldShape> of_entry = {field("key", element(ElementType::String), ElementType::Class, 0),
                                        field("letter", element(ElementType::Char), ElementType::Char, p),
                                        field("open", element(ElementType::Boolean), ElementType::Boolean, p + 2)};
    heap.fields(entry, of_entry);
    heap.value_type(entry, ElementType::ValueType, 2 * p);
    outer = heap.method_table({.base_size = 6 * p, .rid = heap.app().metadata.type("Shop", "Outer")});
    std::vector<FieldShape> of_outer = {field("_entry",
                                              type_reference(ElementType::ValueType, token(Table::TypeDef, entry_rid)),
                                              ElementType::ValueType, 2 * p),
                                        field("_id", element(ElementType::I4), ElementType::I4, 0),
                                        field("_next", element(ElementType::Object), ElementType::Class, p)};
    heap.fields(outer, of_outer);
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    word = young.string("pear");
    object = young.object(outer);
    fill(object + p);
    entries = young.object(heap.array(entry, 2 * p), 2);
    young.store(entries + 4 * p, word, p);
    young.store(entries + 5 * p, 'x', 2);
    young.store(entries + 5 * p + 2, 0, 2);
  }
  FieldShape field(const char *name, Blob signature, ElementType type, u32 offset) {
    return {heap.app().metadata.field(name, field_signature(signature)), type, offset};
  }
  void fill(Address fields) {
    SegmentWriter &young = heap.segments.back();
    young.store(fields, 0xfffffff9u, 4);
    young.store(fields + p, word, p);
    young.store(fields + 2 * p, word, p);
    young.store(fields + 3 * p, 8, 2);
    young.store(fields + 3 * p + 2, 1, 1);
  }

  HeapBuilder heap;
  const u32 p;
  u32 entry_rid;
  Address entry, outer, word, object, entries;
};

std::vector<std::string> lines(const std::vector<FieldValue> &values) {
  std::vector<std::string> out;
  for (const FieldValue &v : values)
    out.push_back(v.name + " " + v.type + " " + (v.reference ? "ref" : "-") + " " + text(v.value));
  return out;
}

TEST(FieldValues, FieldsAndThoseInStructs) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Process t(shape);
    Opened opened(t.heap);
    std::vector<FieldValue> values = object_fields(opened.runtime, t.object, t.outer, true);
    EXPECT_EQ(lines(values),
              (std::vector<std::string>{"_id System.Int32 - -7", "_next System.Object ref -", "_entry Shop.Entry - -",
                                        "_entry.key System.String ref \"pear\"",
                                        "_entry.letter System.Char - '\\u0008'", "_entry.open System.Boolean - true"}));
    ASSERT_EQ(values.size(), 6u);
    EXPECT_EQ(values[2].offset, 3 * t.p);
    EXPECT_EQ(values[4].offset, 4 * t.p);
    EXPECT_EQ(values[4].declared_by, "Shop.Entry");
    for (const FieldValue &hidden : object_fields(opened.runtime, t.object, t.outer, false))
      EXPECT_TRUE(hidden.value.is_absent()) << hidden.name;
  }
}

TEST(FieldValues, ElementsOfArrays) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Process t(shape);
    Opened opened(t.heap);
    Runtime &runtime = opened.runtime;
    Address array = *runtime.memory().try_pointer(t.entries);
    std::optional<ElementShape> elements = runtime.fields().elements(array);
    ASSERT_TRUE(elements);
    const u64 size = 6 * t.p;
    EXPECT_EQ(lines(array_elements(runtime, t.entries, size, *elements, 100)),
              (std::vector<std::string>{"[0] Shop.Entry - -", "[0].key System.String - -",
                                        "[0].letter System.Char - '\\u0000'", "[0].open System.Boolean - false",
                                        "[1] Shop.Entry - -", "[1].key System.String ref \"pear\"",
                                        "[1].letter System.Char - 'x'", "[1].open System.Boolean - false"}));
    EXPECT_EQ(array_elements(runtime, t.entries, size, *elements, 3).size(), 3u);
    EXPECT_EQ(array_elements(runtime, t.entries, 4 * t.p, *elements, 100).size(), 4u); // only one fits its size
    elements->size = 0;
    EXPECT_TRUE(array_elements(runtime, t.entries, size, *elements, 100).empty());
  }
}

} // namespace
} // namespace dnheap::test
