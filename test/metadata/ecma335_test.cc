#include "metadata/ecma335.h"
#include "metadata/type_name.h"
#include "support/metadata_writer.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

const Blob int32 = element(ElementType::I4);
const Blob void_type = element(ElementType::Void);

std::vector<u32> rids(const RidRange &range) {
  std::vector<u32> out;
  for (u32 rid : range)
    out.push_back(rid);
  return out;
}

// <Module>, Shop.Order { Id, Total; Add() }, Shop.Empty, Shop.Box`2 { First } with Lid`1 { Handle; Open() } inside.
MetadataWriter shop() {
  MetadataWriter w;
  w.module("shop.dll", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  w.assembly("shop", {1, 2, 3, 4});
  u32 core = w.assembly_ref("System.Runtime");
  u32 object = w.type_ref(token(Table::AssemblyRef, core), "System", "Object");
  u32 order = w.type("Shop", "Order", token(Table::TypeRef, object));
  u32 id = w.field("Id", field_signature(int32));
  w.constant(token(Table::Field, id), ElementType::I4, {7, 0, 0, 0});
  w.field("Total", field_signature(element(ElementType::R8)));
  w.method("Add", method_signature(void_type, {type_reference(ElementType::Class, token(Table::TypeDef, order))}),
           0x2050);
  w.type("Shop", "Empty");
  u32 box = w.type("Shop", "Box`2");
  w.field("First", field_signature(element(ElementType::Var) + Blob{0}));
  u32 lid = w.nested(box, "Lid`1", token(Table::TypeDef, order));
  w.field("Handle", field_signature(element(ElementType::String)));
  u32 open = w.method("Open", method_signature(void_type, {}));
  w.generic(token(Table::MethodDef, open), {"M"});
  w.generic(token(Table::TypeDef, lid), {"A", "B", "C"});
  w.generic(token(Table::TypeDef, box), {"A", "B"});
  return w;
}

void expect_shop(const Metadata &m) {
  EXPECT_EQ(m.version(), "v4.0.30319");
  ASSERT_TRUE(m.module());
  EXPECT_EQ(m.module()->name, "shop.dll");
  ASSERT_EQ(m.module()->mvid.size(), 16u);
  EXPECT_EQ(static_cast<u8>(m.module()->mvid[15]), 16);
  ASSERT_TRUE(m.assembly());
  EXPECT_EQ(m.assembly()->name, "shop");
  EXPECT_EQ(m.assembly()->version, (std::array<u16, 4>{1, 2, 3, 4}));
  EXPECT_EQ(m.assembly_ref_name(1), "System.Runtime");

  ASSERT_EQ(m.row_count(Table::TypeDef), 5u);
  EXPECT_EQ(m.type_def(2)->name, "Order");
  EXPECT_EQ(m.type_def(2)->name_space, "Shop");
  EXPECT_EQ(m.type_def(2)->extends, token(Table::TypeRef, 1));
  EXPECT_EQ(m.type_def(5)->extends, token(Table::TypeDef, 2));
  EXPECT_EQ(m.type_ref(1)->scope, token(Table::AssemblyRef, 1));
  EXPECT_EQ(m.type_ref(1)->name, "Object");

  EXPECT_EQ(rids(m.fields_of(1)), (std::vector<u32>{}));
  EXPECT_EQ(rids(m.fields_of(2)), (std::vector<u32>{1, 2}));
  EXPECT_EQ(rids(m.fields_of(3)), (std::vector<u32>{}));
  EXPECT_EQ(rids(m.fields_of(5)), (std::vector<u32>{4}));
  EXPECT_EQ(rids(m.methods_of(5)), (std::vector<u32>{2}));
  EXPECT_EQ(m.type_of_field(1), 2u);
  EXPECT_EQ(m.type_of_field(3), 4u);
  EXPECT_EQ(m.type_of_method(1), 2u);
  EXPECT_EQ(m.type_of_method(2), 5u);
  EXPECT_EQ(m.field(2)->name, "Total");
  EXPECT_EQ(m.field(2)->flags, 6);
  EXPECT_EQ(m.method(1)->name, "Add");
  EXPECT_EQ(m.method(1)->rva, 0x2050u);

  EXPECT_EQ(m.enclosing_type(5), 4u);
  EXPECT_EQ(m.enclosing_type(4), 0u);
  EXPECT_EQ(m.generic_parameter_count(token(Table::TypeDef, 5)), 3u);
  EXPECT_EQ(m.generic_parameters(token(Table::TypeDef, 4)), (std::vector<std::string_view>{"A", "B"}));
  EXPECT_EQ(m.generic_parameters(token(Table::MethodDef, 2)), (std::vector<std::string_view>{"M"}));
  EXPECT_EQ(m.generic_parameter_count(token(Table::TypeDef, 2)), 0u);
  ASSERT_TRUE(m.constant(token(Table::Field, 1)));
  EXPECT_EQ(m.constant(token(Table::Field, 1))->type, static_cast<u8>(ElementType::I4));
  EXPECT_EQ(m.constant(token(Table::Field, 1))->value.size(), 4u);
  EXPECT_FALSE(m.constant(token(Table::Field, 2)));
  EXPECT_EQ(type_name(m, token(Table::TypeDef, 5)), "Shop.Box`2+Lid`1");
}

TEST(Metadata, ReadsEveryWidthOfIndexes) {
  for (unsigned bits = 0; bits < 128; ++bits) {
    MetadataShape shape;
    shape.uncompressed = bits & 1;
    shape.wide_strings = bits & 2;
    shape.wide_guids = bits & 4;
    shape.wide_blobs = bits & 8;
    shape.wide_rows = bits & 16;
    shape.extra_data = bits & 32;
    shape.sort = bits & 64;
    std::vector<std::byte> bytes = shop().write(shape);
    std::optional<Metadata> metadata = Metadata::parse(bytes);
    ASSERT_TRUE(metadata) << bits;
    SCOPED_TRACE(bits);
    expect_shop(*metadata);
  }
}

TEST(Metadata, RowIndexesWidenAt65536Rows) {
  for (u32 fields : {0xffffu, 0x10000u}) {
    MetadataWriter w;
    w.type("", "Many");
    u32 name = w.string("f"), signature = w.blob(field_signature(int32));
    for (u32 i = 0; i < fields; ++i)
      w.row(Table::Field, {6, name, signature});
    w.type("", "Last");
    w.field("last", field_signature(int32));
    std::vector<std::byte> bytes = w.write();
    std::optional<Metadata> m = Metadata::parse(bytes);
    ASSERT_TRUE(m);
    EXPECT_EQ(m->fields_of(2).size(), fields);
    EXPECT_EQ(rids(m->fields_of(3)), (std::vector<u32>{fields + 1}));
    EXPECT_EQ(m->type_def(3)->name, "Last");
    EXPECT_EQ(m->type_of_field(fields + 1), 3u);
  }
}

TEST(Metadata, CodedIndexesWidenByTheirLargestTable) {
  for (u32 references : {0x3fffu, 0x4000u}) {
    MetadataWriter w;
    u32 name = w.string("R");
    for (u32 i = 0; i < references; ++i)
      w.row(Table::TypeRef, {0, name, 0});
    w.type("", "Derived", token(Table::TypeRef, references));
    std::vector<std::byte> bytes = w.write();
    std::optional<Metadata> m = Metadata::parse(bytes);
    ASSERT_TRUE(m);
    EXPECT_EQ(m->type_def(2)->extends, token(Table::TypeRef, references));
    EXPECT_EQ(m->row(Table::TypeDef, 1).size(), references == 0x3fff ? 14u : 16u);
  }
}

// Uncompressed metadata, as Reflection.Emit makes it, reaches members through pointer tables.
TEST(Metadata, FollowsPointerTables) {
  MetadataWriter w;
  for (const char *name : {"A", "B"})
    w.row(Table::TypeDef, {1, w.string(name), 0, 0, name[0] == 'A' ? 1u : 3u, name[0] == 'A' ? 1u : 2u});
  for (const char *name : {"b0", "a0", "b1", "a1"}) // as they were defined, in turns
    w.field(name, field_signature(int32));
  for (const char *name : {"b", "a"})
    w.method(name, method_signature(void_type, {}));
  for (u32 rid : {2u, 4u, 1u, 3u})
    w.row(Table::FieldPtr, {rid});
  for (u32 rid : {2u, 1u})
    w.row(Table::MethodPtr, {rid});
  MetadataShape shape;
  shape.uncompressed = true;
  std::vector<std::byte> bytes = w.write(shape);
  std::optional<Metadata> m = Metadata::parse(bytes);
  ASSERT_TRUE(m);
  EXPECT_EQ(rids(m->fields_of(2)), (std::vector<u32>{2, 4}));
  EXPECT_EQ(rids(m->fields_of(3)), (std::vector<u32>{1, 3}));
  EXPECT_EQ(rids(m->methods_of(2)), (std::vector<u32>{2}));
  EXPECT_EQ(rids(m->methods_of(3)), (std::vector<u32>{1}));
  for (u32 rid = 1; rid <= 4; ++rid)
    EXPECT_EQ(m->type_of_field(rid), m->field(rid)->name[0] == 'a' ? 2u : 3u);
  EXPECT_EQ(m->type_of_method(1), 3u);
  EXPECT_EQ(m->type_of_method(3), 0u);
}

// Member lists that go back and forth must not give the same field to many types.
TEST(Metadata, MemberRangesNeverOverlap) {
  MetadataWriter w;
  for (u32 i = 0; i < 100; ++i)
    w.row(Table::TypeDef, {1, 0, 0, 0, i % 2 ? 1000000u : 1u, i % 2 ? 50u : 0u});
  for (u32 i = 0; i < 90; ++i)
    w.field("f", field_signature(int32));
  std::vector<std::byte> bytes = w.write();
  std::optional<Metadata> m = Metadata::parse(bytes);
  ASSERT_TRUE(m);
  u32 total = 0;
  for (u32 type = 0; type <= 102; ++type)
    total += m->fields_of(type).size() + m->methods_of(type).size();
  EXPECT_LE(total, 90u);
}

TEST(Metadata, WildIndexesGiveNothing) {
  std::vector<std::byte> bytes = shop().write();
  std::optional<Metadata> m = Metadata::parse(bytes);
  ASSERT_TRUE(m);
  for (u32 rid : {0u, 6u, 0xffffffu, 0xffffffffu}) {
    EXPECT_FALSE(m->type_def(rid));
    EXPECT_FALSE(m->type_ref(rid));
    EXPECT_FALSE(m->field(rid));
    EXPECT_FALSE(m->method(rid));
    EXPECT_FALSE(m->exported_type(rid));
    EXPECT_TRUE(m->type_spec(rid).empty());
    EXPECT_TRUE(m->assembly_ref_name(rid).empty());
    EXPECT_TRUE(m->module_ref_name(rid).empty());
    EXPECT_EQ(m->fields_of(rid).size(), 0u);
    EXPECT_EQ(m->type_of_field(rid), 0u);
    EXPECT_EQ(m->type_of_method(rid), 0u);
    EXPECT_EQ(m->enclosing_type(rid), 0u);
    EXPECT_TRUE(type_name_parts(*m, token(Table::TypeDef, rid)).empty());
    EXPECT_TRUE(m->string(rid ? 0x7fffffff : 0).empty());
    EXPECT_TRUE(m->blob(rid ? 0x7fffffff : 0).empty());
    EXPECT_TRUE(m->guid(rid ? rid : 0).empty());
  }
  EXPECT_FALSE(m->column(Table::TypeDef, 1, 6));
  EXPECT_FALSE(m->column(no_table, 1, 0));
  EXPECT_EQ(m->token_column(Table::TypeDef, 1, 0), 0u);
  EXPECT_EQ(m->user_string(1).size(), 3u);
}

TEST(Metadata, NeedsARootAndATableStream) {
  EXPECT_FALSE(Metadata::parse({}));
  std::vector<std::byte> bytes = shop().write();
  std::vector<std::byte> other = bytes;
  other[0] = std::byte{'X'};
  EXPECT_FALSE(Metadata::parse(other));
  other = bytes;
  other[41] = std::byte{'X'}; // "#X"
  EXPECT_FALSE(Metadata::parse(other));
}

TEST(Metadata, ReadsTheRemainingTables) {
  MetadataWriter w;
  u32 file = w.row(Table::File, {0, w.string("part.netmodule"), 0});
  w.row(Table::ExportedType, {0, 0, w.string("Part"), w.string("Shop"),
                              MetadataWriter::coded(ColumnKind::Implementation, token(Table::File, file))});
  w.row(Table::ModuleRef, {w.string("native")});
  u32 spec = w.type_spec(element(ElementType::SzArray) + int32);
  std::vector<std::byte> bytes = w.write();
  std::optional<Metadata> m = Metadata::parse(bytes);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->exported_type(1)->name, "Part");
  EXPECT_EQ(m->exported_type(1)->name_space, "Shop");
  EXPECT_EQ(m->exported_type(1)->implementation, token(Table::File, 1));
  EXPECT_EQ(m->module_ref_name(1), "native");
  EXPECT_EQ(m->type_spec(spec).size(), 2u);
}

} // namespace
} // namespace dnheap
