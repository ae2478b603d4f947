// Fields and names of references of CoreCLR, in every layout: synthetic types with each shape that a
// reference can have.
#include "runtime/string_object.h"
#include "support/fields_process.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(CoreClrFields, OwnAndInherited) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 base_rid = t.define("Base");
    Address base = t.add(base_rid, 2 * t.p,
                         {t.field("_first", 0),
                          t.field("_count", t.p, ElementType::I4),
                          {t.heap.app().metadata.field("Cache", field_signature(element(ElementType::Object)), 0x16),
                           ElementType::Class, 24, true}});
    u32 rid = t.define("Derived");
    Address derived =
        t.add(rid, 3 * t.p, {t.field("_text", 2 * t.p, ElementType::Class, element(ElementType::String))}, base);
    const std::vector<InstanceField> &fields = t.fields().instance_fields(derived);
    ASSERT_EQ(fields.size(), 3u);
    EXPECT_EQ(fields[0].name, "_first");
    EXPECT_EQ(fields[0].offset, t.p);
    EXPECT_EQ(fields[0].declaring_type, base);
    EXPECT_EQ(fields[1].type, ElementType::I4);
    EXPECT_EQ(fields[1].size, 4u);
    EXPECT_EQ(fields[2].type_name, "System.String");
    EXPECT_EQ(fields[2].size, t.p);
    EXPECT_EQ(t.name(derived, t.p), "._first");
    EXPECT_EQ(t.name(derived, 3 * t.p), "._text");
    EXPECT_EQ(t.name(derived, 2 * t.p), "."
                                        "0x" +
                                            std::string(t.p == 8 ? "10" : "8")); // no reference
    // The type's own list has the static, too.
    auto own = t.open().runtime.field_descs().own_fields(base);
    ASSERT_TRUE(own && own->size() == 3);
    EXPECT_TRUE((*own)[2].is_static);
    EXPECT_EQ((*own)[2].offset, 24u);
    EXPECT_EQ(t.open().runtime.field_descs().name((*own)[2]), "Cache");
    EXPECT_TRUE(t.fields().notes().empty()) << t.fields().notes().texts()[0];
  });
}

TEST(CoreClrFields, StructsAndArrays) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 entry_rid = t.define("Entry");
    Address entry = t.add_struct(entry_rid, 3 * t.p,
                                 {t.field("key", 0), t.field("hash", t.p, ElementType::I4), t.field("value", 2 * t.p)});
    u32 outer_rid = t.define("Outer");
    Address outer =
        t.add(outer_rid, 5 * t.p,
              {t.field("_id", 0, ElementType::I), t.struct_field("_entry", t.p, entry_rid), t.field("_next", 4 * t.p)});
    EXPECT_EQ(t.fields().instance_fields(outer).at(1).method_table, entry);
    EXPECT_EQ(t.fields().instance_fields(outer).at(1).type_name, "Shop.Entry");
    EXPECT_EQ(t.fields().instance_fields(outer).at(1).size, 3 * t.p);
    EXPECT_EQ(t.name(outer, 2 * t.p), "._entry.key");
    EXPECT_EQ(t.name(outer, 4 * t.p), "._entry.value");
    EXPECT_EQ(t.name(outer, 5 * t.p), "._next");
    EXPECT_EQ(t.name(entry, 3 * t.p), ".value"); // boxed
  });
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 entry_rid = t.define("Entry");
    Address entry = t.add_struct(entry_rid, 2 * t.p, {t.field("key", 0), t.field("value", t.p)});
    Address entries = t.heap.array(entry, 2 * t.p), objects = t.heap.array(t.heap.object_type, t.p),
            matrix = t.heap.array(t.heap.object_type, t.p, 2);
    SegmentWriter &young = t.heap.segment(GCSegmentGeneration::gen0);
    Address grid = young.object(matrix, 6); // 2 × 3, from (10, -1)
    for (auto [at, value] : {std::pair{0, 2u}, {4, 3u}, {8, 10u}, {12, 0xffffffffu}})
      young.block.word(grid + 2 * t.p + static_cast<u64>(at), value);
    EXPECT_EQ(t.name(entries, 2 * t.p + 17 * 2 * t.p + t.p), "[*].value");
    EXPECT_EQ(t.exact(entries, 2 * t.p + 17 * 2 * t.p + t.p), "[17].value");
    EXPECT_EQ(t.name(objects, 2 * t.p + 3 * t.p), "[*]");
    EXPECT_EQ(t.exact(objects, 2 * t.p + 3 * t.p), "[3]");
    EXPECT_EQ(t.name(matrix, 2 * t.p + 16 + 4 * t.p), "[*]");
    EXPECT_EQ(t.exact(matrix, 2 * t.p + 16 + 4 * t.p, grid), "[11,0]");
    EXPECT_EQ(t.fields().elements(matrix)->rank, 2u);
    EXPECT_EQ(t.fields().elements(objects)->rank, 0u);
    EXPECT_EQ(t.fields().elements(entries)->type, ElementType::ValueType);
    EXPECT_FALSE(t.fields().elements(entry));
  });
}

TEST(CoreClrFields, InlineArraysAndOverlaps) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 pair_rid = t.define("Pair");
    t.add_struct(pair_rid, 2 * t.p, {t.field("a", 0), t.field("b", t.p)});
    u32 buffer_rid = t.define("Buffer"); // [InlineArray(4)] of Pair
    t.add_struct(buffer_rid, 8 * t.p, {t.struct_field("_element0", 0, pair_rid)});
    u32 refs_rid = t.define("Refs"); // [InlineArray(3)] of object
    Address refs = t.add_struct(refs_rid, 3 * t.p, {t.field("_element0", 0)});
    u32 union_rid = t.define("Union", 0x11);
    t.add_struct(union_rid, t.p, {t.field("text", 0), t.field("bytes", 0)});
    u32 wide_rid = t.define("Wide", 0x11); // explicit layout: no inline array, whatever its size
    t.add_struct(wide_rid, 4 * t.p, {t.field("only", 0)});
    u32 holder_rid = t.define("Holder");
    Address holder =
        t.add(holder_rid, 16 * t.p,
              {t.struct_field("_buffer", 0, buffer_rid), t.struct_field("_refs", 8 * t.p, refs_rid),
               t.struct_field("_union", 11 * t.p, union_rid), t.struct_field("_wide", 12 * t.p, wide_rid)});
    EXPECT_EQ(t.name(holder, t.p * 6), "._buffer._element0[*].b");
    EXPECT_EQ(t.exact(holder, t.p * 6), "._buffer._element0[2].b");
    EXPECT_EQ(t.name(holder, t.p * 11), "._refs._element0[*]");
    EXPECT_EQ(t.exact(holder, t.p * 11), "._refs._element0[2]");
    EXPECT_EQ(t.name(holder, t.p * 12), "._union.text|._union.bytes");
    EXPECT_EQ(t.name(holder, t.p * 13), "._wide.only");
    EXPECT_EQ(t.exact(refs, 2 * t.p), "._element0[1]"); // boxed
    EXPECT_EQ(t.name(holder, 1000), t.exact(holder, 1000));
    EXPECT_EQ(t.name(holder, 1000), ".0x3e8");
  });
}

// A field of a type parameter that is bound to a struct; what the parameter is called is of no interest.
TEST(CoreClrFields, TypeParameters) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 pair_rid = t.define("Pair");
    Address pair = t.add_struct(pair_rid, 2 * t.p, {t.field("a", 0), t.field("b", t.p)});
    u32 box_rid = t.define("Box`1");
    t.heap.app().metadata.generic(token(Table::TypeDef, box_rid), {"T"});
    FieldShape item = t.field("_item", 0, ElementType::ValueType, Blob{0x13, 0});
    Address box = t.heap.method_table({.base_size = 4 * t.p, .rid = box_rid, .arguments = {pair}});
    t.heap.fields(box, {item});
    EXPECT_EQ(t.name(box, 2 * t.p), "._item.b");
    EXPECT_EQ(t.fields().instance_fields(box).at(0).type_name, "Shop.Pair");
  });
}

// A generic struct is looked up among what the runtime has instantiated: over references there is but one.
TEST(CoreClrFields, GenericStructs) {
  for_each_layout([](const HeapShape &shape) {
    if (shape.net == Net::net11)
      return; // HeapBuilder publishes no list of assemblies there
    Process t(shape);
    Address canon =
        t.heap.method_table({.rid = t.heap.core().metadata.type("System", "__Canon"), .module = t.heap.core().module});
    u32 pair_rid = t.define("Pair`1");
    t.heap.app().metadata.generic(token(Table::TypeDef, pair_rid), {"T"});
    std::vector<FieldShape> fields = {t.field("Number", t.p, ElementType::I4),
                                      t.field("Key", 0, ElementType::Class, Blob{0x13, 0})};
    Address shared =
        t.heap.method_table({.base_size = 4 * t.p, .flags = value_category, .rid = pair_rid, .arguments = {canon}});
    t.heap.fields(shared, fields);
    t.heap.app().instantiations.push_back(shared);
    Blob pair = Blob{0x15} + type_reference(ElementType::ValueType, token(Table::TypeDef, pair_rid)) + Blob{1};
    u32 holder_rid = t.define("Holder");
    FieldShape strings = t.field("_strings", 0, ElementType::ValueType, pair + element(ElementType::String)),
               numbers = t.field("_numbers", 2 * t.p, ElementType::ValueType, pair + element(ElementType::I4));
    Address holder = t.add(holder_rid, 4 * t.p, {strings, numbers});
    Blob nested = element(ElementType::I4);
    for (unsigned i = 0; i < 30; ++i)
      nested = pair + nested;
    u32 deep_rid = t.define("Deep");
    Address deep = t.add(deep_rid, 2 * t.p, {t.field("_deep", 0, ElementType::ValueType, nested)});
    EXPECT_EQ(t.name(holder, t.p), "._strings.Key");
    const InstanceField held = t.fields().instance_fields(holder).at(0);
    EXPECT_EQ(held.type_name, "Shop.Pair<System.String>");
    // What all instances share calls its fields' types as its metadata does; each of them by its own names.
    EXPECT_EQ(t.fields().instance_fields(shared).at(1).type_name, "T");
    ASSERT_TRUE(held.arguments);
    EXPECT_EQ(t.fields().fields_of_instance(shared, held.arguments).at(1).type_name, "System.String");
    EXPECT_EQ(t.name(holder, 3 * t.p), "._numbers.0x0"); // not loaded: no guess
    EXPECT_EQ(t.fields().notes().size(), 1u);
    EXPECT_EQ(t.name(deep, t.p), "._deep.0x0"); // and soon
  });
}

// Damage: no crash, no endless work, no name that is wrong.
TEST(CoreClrFields, Damage) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 self_rid = t.define("Self"); // a struct that contains itself
    Address self =
        t.add_struct(self_rid, 2 * t.p, {t.struct_field("x", 0, self_rid), t.struct_field("y", t.p, self_rid)});
    u32 outside_rid = t.define("Outside");
    Address outside = t.add(outside_rid, t.p, {t.field("_far", 100 * t.p), t.field("_nowhere", 0x7ffffff)});
    u32 lost_rid = t.define("Lost");
    u32 missing_rid = t.define("Missing");
    FieldShape missing = t.struct_field("_missing", t.p, missing_rid); // not loaded
    Address lost = t.add(lost_rid, 4 * t.p, {missing});
    t.name(self, t.p);
    EXPECT_TRUE(t.fields().instance_fields(outside).empty());
    EXPECT_EQ(t.name(lost, 3 * t.p).substr(0, 2), ".0"); // the field belongs to another type by its row: not believed
    EXPECT_TRUE(t.fields().instance_fields(0).empty());
    EXPECT_TRUE(t.fields().instance_fields(t.heap.free_type).empty());
    EXPECT_FALSE(t.fields().notes().empty());
  });
}

TEST(StringObject, LengthAndText) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    SegmentWriter &young = t.heap.segment(GCSegmentGeneration::gen0);
    Address text = young.string("some text"), empty = young.string("");
    young.block.half(text + t.p + 4, 0xe4); // ä
    const Runtime &runtime = t.open().runtime;
    EXPECT_EQ(string_length(runtime, text), 9u);
    EXPECT_EQ(string_text(runtime, text, 100)->text, "\xc3\xa4ome text");
    EXPECT_FALSE(string_text(runtime, text, 9)->is_cut);
    EXPECT_EQ(string_text(runtime, text, 4)->text, "\xc3\xa4ome");
    EXPECT_TRUE(string_text(runtime, text, 4)->is_cut);
    EXPECT_EQ(string_text(runtime, empty, 4)->text, "");
    EXPECT_FALSE(string_length(runtime, 0x10));
    EXPECT_FALSE(string_text(runtime, 0x10, 5));
  });
}

} // namespace
} // namespace dnheap::test
