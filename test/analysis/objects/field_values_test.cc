// What `show` says of fields and elements, in every layout.
#include "analysis/objects/field_values.h"
#include "base/text.h"
#include "runtime/array_bounds.h"
#include "support/opened.h"
#include "support/rows.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u32 value_category = 0x40000;

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
    out.push_back(v.name + " " + v.type + " " + (v.reference ? "ref" : "-") + " " + (v.text.empty() ? "-" : v.text));
  return out;
}

TEST(FieldValues, FieldsAndThoseInStructs) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Process t(shape);
    Opened opened(t.heap);
    std::vector<FieldValue> values = FieldValues(opened.runtime).fields(t.object, t.outer, true);
    EXPECT_EQ(lines(values),
              (std::vector<std::string>{"_id System.Int32 - -7", "_next System.Object ref -", "_entry Shop.Entry - -",
                                        "_entry.key System.String ref \"pear\"",
                                        "_entry.letter System.Char - '\\u0008'", "_entry.open System.Boolean - true"}));
    ASSERT_EQ(values.size(), 6u);
    EXPECT_EQ(values[2].offset, 3 * t.p);
    EXPECT_EQ(values[4].offset, 4 * t.p);
    EXPECT_EQ(values[4].declared_by, "Shop.Entry");
    for (const FieldValue &hidden : FieldValues(opened.runtime).fields(t.object, t.outer, false))
      EXPECT_TRUE(hidden.value.is_absent() && hidden.text.empty()) << hidden.name;
    // For programs: numbers as numbers, strings without quotes.
    EXPECT_EQ(*values[0].value.get_if<i64>(), -7);
    EXPECT_EQ(*values[3].value.text(), "pear");
    EXPECT_EQ(*values[5].value.get_if<bool>(), true);
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
    FieldValues values(runtime);
    EXPECT_EQ(lines(values.elements(t.entries, size, *elements, 100)),
              (std::vector<std::string>{"[0] Shop.Entry - -", "[0].key System.String - -",
                                        "[0].letter System.Char - '\\u0000'", "[0].open System.Boolean - false",
                                        "[1] Shop.Entry - -", "[1].key System.String ref \"pear\"",
                                        "[1].letter System.Char - 'x'", "[1].open System.Boolean - false"}));
    EXPECT_EQ(values.elements(t.entries, size, *elements, 3).size(), 3u);
    EXPECT_EQ(values.elements(t.entries, 4 * t.p, *elements, 100).size(), 4u); // only one fits its size
    elements->size = 0;
    EXPECT_TRUE(values.elements(t.entries, size, *elements, 100).empty());
  }
}

// Elements are called by the bounds that the object has, where they can be believed.
TEST(FieldValues, ElementsOfArraysWithBounds) {
  struct Case {
    std::vector<u32> lengths, lower;
    std::string bounds; // empty: counted from 0
    std::vector<std::string> indices;
  };
  const Case cases[] = {
      {{3}, {5}, "[5..7]", {"[5]", "[6]", "[7]"}},
      {{3}, {static_cast<u32>(-2)}, "[-2..0]", {"[-2]", "[-1]", "[0]"}},
      {{2, 3}, {0, 0}, "[0..1,0..2]", {"[0,0]", "[0,1]", "[0,2]", "[1,0]", "[1,1]", "[1,2]"}},
      {{2, 1, 2}, {1, 7, 0}, "[1..2,7..7,0..1]", {"[1,7,0]", "[1,7,1]", "[2,7,0]", "[2,7,1]"}},
      {{2, 0, 4}, {0, 0, 0}, "[0..1,0..-1,0..3]", {}},
  };
  for (const HeapShape &shape : type_layouts())
    for (const Case &c : cases)
      for (bool damaged : {false, true}) {
        SCOPED_TRACE(std::string(name_of(shape)) + " " + c.bounds + (damaged ? " damaged" : ""));
        HeapBuilder heap(shape);
        const u64 p = heap.p, rank = c.lengths.size();
        const Address type = heap.array(heap.string_type, static_cast<u32>(p), static_cast<u32>(rank));
        SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
        const Address word = young.string("pear"), array = young.object(type, c.indices.size());
        for (u64 i = 0; i < rank; ++i) {
          young.store(array + 2 * p + 4 * i, c.lengths[i] + damaged, 4);
          young.store(array + 2 * p + 4 * (rank + i), c.lower[i], 4);
        }
        std::vector<std::string> wanted;
        for (u64 i = 0; i < c.indices.size(); ++i) {
          young.store(array + 2 * p + 8 * rank + i * p, word, p);
          wanted.push_back((damaged ? "[" + std::to_string(i) + "]" : c.indices[i]) + " System.String ref \"pear\"");
        }
        Opened opened(heap);
        Fields &fields = opened.runtime.fields();
        const std::optional<ElementShape> elements = fields.elements(type);
        ASSERT_TRUE(elements);
        EXPECT_EQ(
            lines(FieldValues(opened.runtime).elements(array, heap.size_of(type, c.indices.size()), *elements, 100)),
            wanted);
        const std::optional<ArrayBounds> bounds = ArrayBounds::of(opened.runtime.memory(), array, *elements);
        EXPECT_EQ(bounds ? bounds->text() : "", damaged ? "" : c.bounds);
        if (!c.indices.empty()) {
          EXPECT_EQ(fields.exact_reference(array, type, elements->start), wanted[0].substr(0, wanted[0].find(' ')));
        }
      }
}

// [InlineArray(n)] and `fixed int x[n]`: structs with one field and room for several.
TEST(FieldValues, EveryElementOfInlineArraysAndFixedBuffers) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    const u32 p = static_cast<u32>(heap.p);
    MetadataWriter &metadata = heap.app().metadata;
    struct Buffer {
      const char *type, *field;
      u32 rid = 0;
    } buffers[] = {{"Inline", "_first"}, {"<x>e__FixedBuffer", "FixedElementField"}, {"Sized", "_first"}};
    for (Buffer &buffer : buffers) {
      buffer.rid = metadata.type("Shop", buffer.type);
      const Address type = heap.method_table({.base_size = 2 * p + 16, .flags = value_category, .rid = buffer.rid});
      heap.fields(type,
                  {{metadata.field(buffer.field, field_signature(element(ElementType::I4))), ElementType::I4, 0}});
      heap.value_type(type, ElementType::ValueType, 16);
      if (&buffer != &buffers[0])
        metadata.row(Table::ClassLayout, {0, 16, buffer.rid});
    }
    const Address holder = heap.method_table({.base_size = 2 * p + 48, .rid = metadata.type("Shop", "Holder")});
    std::vector<FieldShape> fields;
    for (u32 i = 0; i < 3; ++i)
      fields.push_back({metadata.field(std::string(1, static_cast<char>('a' + i)),
                                       field_signature(type_reference(ElementType::ValueType,
                                                                      token(Table::TypeDef, buffers[i].rid)))),
                        ElementType::ValueType, 16 * i});
    heap.fields(holder, fields);
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    const Address object = young.object(holder);
    for (u32 i = 0; i < 12; ++i)
      young.store(object + p + 4 * i, 10 + i, 4);
    Opened opened(heap);
    const std::vector<FieldValue> values = FieldValues(opened.runtime).fields(object, holder, true);
    EXPECT_EQ(lines(values),
              (std::vector<std::string>{
                  "a Shop.Inline - -", "a._first[0] System.Int32 - 10", "a._first[1] System.Int32 - 11",
                  "a._first[2] System.Int32 - 12", "a._first[3] System.Int32 - 13", "b Shop.<x>e__FixedBuffer - -",
                  "b.FixedElementField[0] System.Int32 - 14", "b.FixedElementField[1] System.Int32 - 15",
                  "b.FixedElementField[2] System.Int32 - 16", "b.FixedElementField[3] System.Int32 - 17",
                  "c Shop.Sized - -", "c._first System.Int32 - 18"}));
    ASSERT_EQ(values.size(), 12u);
    EXPECT_EQ(values[4].offset, p + 12);
  }
}

// Instances over references share one MethodTable: the fields in it are called by what each of them is.
TEST(FieldValues, FieldsOfSharedGenericStructs) {
  for (const HeapShape &shape : type_layouts()) {
    if (shape.net == Net::net11)
      continue; // HeapBuilder publishes no list of assemblies there
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    const u32 p = static_cast<u32>(heap.p);
    MetadataWriter &metadata = heap.app().metadata;
    const Address canon =
        heap.method_table({.rid = heap.core().metadata.type("System", "__Canon"), .module = heap.core().module});
    const u32 pair_rid = metadata.type("Shop", "Pair`2");
    metadata.generic(token(Table::TypeDef, pair_rid), {"TKey", "TValue"});
    const Address pair =
        heap.method_table({.base_size = 4 * p, .flags = value_category, .rid = pair_rid, .arguments = {canon, canon}});
    heap.fields(pair, {{metadata.field("Key", field_signature(Blob{0x13, 0})), ElementType::Class, 0},
                       {metadata.field("Value", field_signature(Blob{0x13, 1})), ElementType::Class, p}});
    heap.value_type(pair, ElementType::ValueType, 2 * p);
    heap.app().instantiations.push_back(pair);
    const u32 outer_rid = metadata.type("Shop", "Outer`1");
    metadata.generic(token(Table::TypeDef, outer_rid), {"T"});
    const Blob open = Blob{0x15} + type_reference(ElementType::ValueType, token(Table::TypeDef, pair_rid)) + Blob{2};
    const Address outer =
        heap.method_table({.base_size = 4 * p, .flags = value_category, .rid = outer_rid, .arguments = {canon}});
    heap.fields(outer, {{metadata.field("Pair", field_signature(open + Blob{0x13, 0} + element(ElementType::Object))),
                         ElementType::ValueType, 0}});
    heap.value_type(outer, ElementType::ValueType, 2 * p);
    heap.app().instantiations.push_back(outer);
    const Blob outer_of_string = Blob{0x15} + type_reference(ElementType::ValueType, token(Table::TypeDef, outer_rid)) +
                                 Blob{1} + element(ElementType::String);
    const Address holder = heap.method_table({.base_size = 4 * p, .rid = metadata.type("Shop", "Holder")});
    heap.fields(holder, {{metadata.field("_outer", field_signature(outer_of_string)), ElementType::ValueType, 0}});
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    const Address word = young.string("pear"), object = young.object(holder);
    young.store(object + p, word, p);
    Opened opened(heap);
    const std::vector<FieldValue> values = FieldValues(opened.runtime).fields(object, holder, true);
    EXPECT_EQ(lines(values), (std::vector<std::string>{"_outer Shop.Outer<System.String> - -",
                                                       "_outer.Pair Shop.Pair<System.String, System.Object> - -",
                                                       "_outer.Pair.Key System.String ref \"pear\"",
                                                       "_outer.Pair.Value System.Object - -"}));
    EXPECT_EQ(values.back().declared_by, "Shop.Pair<System.String, System.Object>");
  }
}

// One struct of the core library, boxed, with its fields one behind the other.
struct Boxed {
  struct Part {
    const char *name;
    ElementType type;
    u32 size;
    u64 value;
  };
  Boxed(const HeapShape &shape, const char *type, const std::vector<Part> &parts)
      : heap(shape), p(static_cast<u32>(heap.p)) {
    u32 size = 0;
    for (const Part &part : parts)
      size += part.size;
    method_table = heap.method_table({.base_size = 2 * p + (size + p - 1) / p * p,
                                      .flags = value_category,
                                      .rid = heap.app().metadata.type("System", type)});
    std::vector<FieldShape> fields;
    u32 offset = 0;
    for (const Part &part : parts) {
      fields.push_back({heap.app().metadata.field(part.name, field_signature(element(part.type))), part.type, offset});
      offset += part.size;
    }
    heap.fields(method_table, fields);
    heap.value_type(method_table, ElementType::ValueType, size);
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    object = young.object(method_table);
    offset = 0;
    for (const Part &part : parts) {
      young.store(object + p + offset, part.value, part.size);
      offset += part.size;
    }
  }
  std::string text() {
    Opened opened(heap);
    return FieldValues(opened.runtime).whole(object, method_table).text;
  }

  HeapBuilder heap;
  const u32 p;
  Address method_table = 0, object = 0;
};

std::string moment(const HeapShape &shape, u64 data) {
  return Boxed(shape, "DateTime", {{"_dateData", ElementType::U8, 8, data}}).text();
}

std::string span(const HeapShape &shape, i64 ticks) {
  return Boxed(shape, "TimeSpan", {{"_ticks", ElementType::I8, 8, static_cast<u64>(ticks)}}).text();
}

std::string decimal(const HeapShape &shape, u64 flags, u64 high, u64 low) {
  return Boxed(shape, "Decimal",
               {{"_flags", ElementType::I4, 4, flags},
                {"_hi32", ElementType::U4, 4, high},
                {"_lo64", ElementType::U8, 8, low}})
      .text();
}

TEST(FieldValues, StructsThatAreValues) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    // 2024-02-29 12:34:56.789 by a C# program: DateTime.Ticks.
    const u64 leap_day = 638448068967890000;
    EXPECT_EQ(moment(shape, leap_day), "2024-02-29T12:34:56.789");
    EXPECT_EQ(moment(shape, leap_day | u64{1} << 62), "2024-02-29T12:34:56.789Z");
    EXPECT_EQ(moment(shape, leap_day | u64{2} << 62), "2024-02-29T12:34:56.789 local");
    EXPECT_EQ(moment(shape, leap_day | u64{3} << 62), "2024-02-29T12:34:56.789 local"); // winter or summer time
    EXPECT_EQ(moment(shape, 0), "0001-01-01T00:00:00");
    EXPECT_EQ(moment(shape, 3155378975999999999), "9999-12-31T23:59:59.9999999");
    EXPECT_EQ(moment(shape, 3155378976000000000), ""); // no such moment
    EXPECT_EQ(span(shape, 0), "00:00:00");
    EXPECT_EQ(span(shape, -15000000), "-00:00:01.5");
    EXPECT_EQ(span(shape, 937840500000), "1.02:03:04.05");
    EXPECT_EQ(span(shape, static_cast<i64>(u64{1} << 63)), "-10675199.02:48:05.4775808"); // TimeSpan.MinValue
    EXPECT_EQ(decimal(shape, 0, 0, 0), "0");
    EXPECT_EQ(decimal(shape, 2 << 16, 0, 1250), "12.50");
    EXPECT_EQ(decimal(shape, 3 << 16, 0, 5), "0.005");
    EXPECT_EQ(decimal(shape, 0x80000000, 0xffffffff, ~u64{0}), "-79228162514264337593543950335"); // Decimal.MinValue
    EXPECT_EQ(decimal(shape, 29 << 16, 0, 5), "");                                                // no such scale
    EXPECT_EQ(Boxed(shape, "DateOnly", {{"_dayNumber", ElementType::I4, 4, 738944}}).text(), "2024-02-29");
    EXPECT_EQ(Boxed(shape, "TimeOnly", {{"_ticks", ElementType::U8, 8, 863999999999}}).text(), "23:59:59.9999999");
    auto wide = [&](const char *type, u64 upper, u64 lower) {
      return Boxed(shape, type, {{"_lower", ElementType::U8, 8, lower}, {"_upper", ElementType::U8, 8, upper}}).text();
    };
    EXPECT_EQ(wide("Int128", 0, 0), "0");
    EXPECT_EQ(wide("Int128", ~u64{0}, ~u64{0}), "-1");
    EXPECT_EQ(wide("Int128", u64{1} << 63, 0), "-170141183460469231731687303715884105728"); // Int128.MinValue
    EXPECT_EQ(wide("UInt128", ~u64{0}, ~u64{0}), "340282366920938463463374607431768211455");
    auto half = [&](u64 bits) { return Boxed(shape, "Half", {{"_value", ElementType::U2, 2, bits}}).text(); };
    const std::pair<u64, const char *> halves[] = {
        {0, "0"},          {0x8000, "-0"},     {0x3c00, "1"},         {0xc100, "-2.5"},     {0x2e66, "0.1"},
        {0x7bff, "65500"}, {0x0001, "6e-08"},  {0x0400, "6.104e-05"}, {0x7c00, "Infinity"}, {0xfc00, "-Infinity"},
        {0x7e00, "NaN"},   {0x3555, "0.3333"}, {0x6400, "1024"}};
    for (auto [bits, text] : halves)
      EXPECT_EQ(half(bits), text) << bits;
    std::vector<Boxed::Part> guid = {
        {"_a", ElementType::I4, 4, 0x00112233}, {"_b", ElementType::I2, 2, 0x4455}, {"_c", ElementType::I2, 2, 0x6677}};
    u64 value = 0x88;
    for (const char *name : {"_d", "_e", "_f", "_g", "_h", "_i", "_j", "_k"}) {
      guid.push_back({name, ElementType::U1, 1, value});
      value += 0x11;
    }
    EXPECT_EQ(Boxed(shape, "Guid", guid).text(), "00112233-4455-6677-8899-aabbccddeeff");
    EXPECT_EQ(Boxed(shape, "Point", {{"_ticks", ElementType::I8, 8, 5}}).text(), ""); // of the program itself
  }
}

TEST(FieldValues, CharactersAsCSharpWritesThem) {
  HeapBuilder heap({});
  const Address type = heap.method_table({.base_size = 24, .rid = heap.app().metadata.type("Shop", "Letters")});
  std::vector<FieldShape> fields;
  const std::pair<u16, const char *> letters[] = {{'x', "'x'"}, {'\'', "'\\''"}, {'\\', "'\\\\'"}, {'"', "'\"'"}};
  for (u32 i = 0; i < 4; ++i)
    fields.push_back({heap.app().metadata.field("f" + std::to_string(i), field_signature(element(ElementType::Char))),
                      ElementType::Char, 2 * i});
  heap.fields(type, fields);
  SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  const Address object = young.object(type);
  for (u32 i = 0; i < 4; ++i)
    young.store(object + heap.p + 2 * i, letters[i].first, 2);
  Opened opened(heap);
  const std::vector<FieldValue> values = FieldValues(opened.runtime).fields(object, type, true);
  ASSERT_EQ(values.size(), 4u);
  for (u32 i = 0; i < 4; ++i) {
    EXPECT_EQ(values[i].text, letters[i].second);
    EXPECT_EQ(*values[i].value.text(), std::string(1, static_cast<char>(letters[i].first)));
  }
}

// A type with a Nullable and enums: by name, several flags, no such value.
TEST(FieldValues, NullablesAndEnums) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    const u32 p = static_cast<u32>(heap.p);
    MetadataWriter &metadata = heap.app().metadata;
    const Address enum_type = heap.type("System.Enum", 0);
    const u32 state_rid = metadata.type("Shop", "State");
    const FieldShape held = {metadata.field("value__", field_signature(element(ElementType::I4))), ElementType::I4, 0};
    const std::pair<const char *, u32> members[] = {{"None", 0}, {"Paid", 1}, {"Shipped", 2}, {"Lost", 0xffffffff}};
    for (auto [name, value] : members) {
      const u32 rid = metadata.field(
          name, field_signature(type_reference(ElementType::ValueType, token(Table::TypeDef, state_rid))), 0x8056);
      metadata.constant(token(Table::Field, rid), ElementType::I4,
                        {static_cast<u8>(value), static_cast<u8>(value >> 8), static_cast<u8>(value >> 16),
                         static_cast<u8>(value >> 24)});
    }
    const Address state =
        heap.method_table({.base_size = 3 * p, .flags = value_category, .rid = state_rid, .parent = enum_type});
    heap.fields(state, {held});
    heap.value_type(state, ElementType::I4, 4);
    const Address order = heap.method_table({.base_size = 2 * p + 16, .rid = metadata.type("Shop", "Order")});
    const Blob of_state = type_reference(ElementType::ValueType, token(Table::TypeDef, state_rid));
    std::vector<FieldShape> fields;
    u32 offset = 0;
    for (const char *name : {"now", "before", "odd", "lost"}) {
      fields.push_back({metadata.field(name, field_signature(of_state)), ElementType::I4, offset});
      offset += 4;
    }
    heap.fields(order, fields);
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    const Address object = young.object(order), boxed = young.object(state);
    young.store(object + p, 2, 4);
    young.store(object + p + 4, 3, 4);
    young.store(object + p + 8, 8, 4);
    young.store(object + p + 12, 0xffffffff, 4);
    young.store(boxed + p, 1, 4);
    Opened opened(heap);
    FieldValues values(opened.runtime);
    EXPECT_EQ(lines(values.fields(object, order, true)),
              (std::vector<std::string>{"now Shop.State - Shipped (2)", "before Shop.State - Paid | Shipped (3)",
                                        "odd Shop.State - 8", "lost Shop.State - Lost (-1)"}));
    std::vector<FieldValue> of_boxed = values.fields(boxed, state, true);
    ASSERT_EQ(of_boxed.size(), 1u);
    EXPECT_EQ(of_boxed[0].text, "Paid (1)");
    EXPECT_EQ(*of_boxed[0].value.text(), "Paid");
  }
}

// An array of strings shows what these say, whatever else it shows of its references.
TEST(FieldValues, TextsOfAnArrayOfStrings) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    const Address pear = young.string("pear"), plum = young.string("plum");
    const Address both = young.object(heap.array(heap.string_type, static_cast<u32>(heap.p)), 2);
    young.store(both + 2 * heap.p, pear, heap.p);
    young.store(both + 3 * heap.p, plum, heap.p);
    Question question;
    question.subject = hex(both);
    question.values = true;
    report::Answer answer = answer_of(heap, "show", question);
    std::vector<TextRow> rows = text_rows_of(answer, "elements");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["value"], "pear");
    EXPECT_EQ(rows[1]["value"], "plum");
    EXPECT_EQ(rows[1]["reference"], hex(plum));
  }
}

} // namespace
} // namespace dnheap::test
