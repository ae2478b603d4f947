#include "runtime/nativeaot/debug_types.h"
#include "support/debug_file_writer.h"
#include "support/dwarf_writer.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

constexpr u64 bias = 0x10000;

std::vector<std::byte> file_of(const DwarfWriter &writer, Format format) {
  DebugFileWriter out{.format = format};
  out.more = {{".debug_info", writer.info()}, {".debug_abbrev", writer.abbrev()}, {".debug_str", writer.strings()}};
  return out.write();
}

DebugTypes read(const DwarfWriter &writer, Format format) {
  auto file = std::make_shared<std::vector<std::byte>>(file_of(writer, format));
  return {DebugFile(*file, bias, file), format.pointer_size};
}

std::string text(std::span<const DebugTypes::Field> fields) {
  std::string out;
  for (const DebugTypes::Field &f : fields)
    out += std::string(f.name) + "@" + std::to_string(f.offset) + " ";
  return out;
}

// A unit of the compiler's, with Object, a reference to it, and a number.
struct Unit {
  explicit Unit(const DwarfWriter::Shape &shape) : out(shape), format(shape.format) {
    out.begin_unit("NetRuntime");
    object = out.class_type("Object", 8, 0, {{"m_pEEType", 0, 0}})[0];
    to_object = out.reference(out.declaration("Object"));
    number = out.base_type("int", 5, 4);
  }
  DebugTypes read() {
    out.end_unit();
    return test::read(out, format);
  }
  DwarfWriter out;
  Format format;
  u64 object = 0, to_object = 0, number = 0;
};

TEST(DebugTypes, ClassesStructsAndWhatTheyAreMadeOf) {
  for (Format format : all_formats)
    for (unsigned version : {4u, 5u})
      for (bool wide : {false, true}) {
        SCOPED_TRACE(name_of(format) + " " + std::to_string(version));
        Unit unit({format, version, wide});
        const u64 declared = unit.out.declaration("Pair");
        const u64 node =
            unit.out.class_type("Node", 40, unit.object, {{"_pair", declared, 8}, {"_count", unit.number, 24}})[0];
        unit.out.class_type("Pair", 16, 0, {{"First", unit.to_object, 0}, {"Second", unit.number, 8}});
        unit.out.class_type("Leaf", 48, node, {{"_more", unit.to_object, 40}});
        DebugTypes types = unit.read();
        ASSERT_TRUE(types.find("Node"));
        EXPECT_EQ(text(types.find("Node")->fields), "_pair@8 _count@24 ");
        EXPECT_EQ(types.find("Node")->size, 40u);
        EXPECT_FALSE(types.find("Node")->is_struct);
        EXPECT_FALSE(types.find("Object")->is_struct);
        EXPECT_TRUE(types.find("Pair")->is_struct);
        EXPECT_EQ(types.class_at(types.find("Leaf")->parent), types.find("Node"));
        DebugTypes::Type pair = types.type(types.find("Node")->fields[0].type);
        EXPECT_EQ(pair.type, ElementType::ValueType);
        EXPECT_EQ(pair.struct_type, types.find("Pair"));
        EXPECT_EQ(pair.size, 16u);
        DebugTypes::Type reference = types.type(types.find("Leaf")->fields[0].type);
        EXPECT_EQ(reference.type, ElementType::Class);
        EXPECT_EQ(reference.name, "Object");
        DebugTypes::Type number = types.type(types.find("Node")->fields[1].type);
        EXPECT_EQ(number.type, ElementType::I4);
        EXPECT_EQ(number.name, "System.Int32");
        EXPECT_EQ(types.find("Nothing"), nullptr);
        EXPECT_EQ(types.type(0).type, ElementType::Void);
        EXPECT_EQ(types.class_at(0), nullptr);
      }
}

// The runtime is written in C++, and has an Object, too.
TEST(DebugTypes, OtherCompilersUnitsAreLeftOut) {
  DwarfWriter out({});
  out.begin_unit("clang version 18");
  out.class_type("Thread", 8, 0, {{"m_x", 0, 0}});
  out.end_unit();
  out.begin_unit("NetRuntime");
  out.end_unit();
  EXPECT_EQ(read(out, {}).find("Thread"), nullptr);
}

TEST(DebugTypes, TheSameNameTwice) {
  Unit unit({});
  unit.out.class_type("Same", 16, unit.object, {{"_a", unit.number, 8}});
  unit.out.class_type("Same", 16, unit.object, {{"_a", unit.number, 8}});
  unit.out.class_type("Other", 16, unit.object, {{"_a", unit.number, 8}});
  unit.out.class_type("Other", 16, unit.object, {{"_b", unit.number, 8}});
  unit.out.class_type("Other", 16, unit.object, {{"_a", unit.number, 8}});
  DebugTypes types = unit.read();
  EXPECT_NE(types.find("Same"), nullptr);
  EXPECT_EQ(types.find("Other"), nullptr);
}

// static int a; static object b; [ThreadStatic] static object c; static object d; static int e;
// The compiler lists the fields a, e, b, d, c, the places as those of a, b, d, e, and joins them one by one.
TEST(DebugTypes, StaticFieldsAreFoundByKind) {
  Unit unit({});
  std::vector<u64> at = unit.out.class_type(
      "Cache", 8, unit.object, {},
      {{"a", unit.number}, {"e", unit.number}, {"b", unit.to_object}, {"d", unit.to_object}, {"c", unit.to_object}});
  unit.out.place(at[1], 0x500, std::nullopt); // a
  unit.out.place(at[2], 0x800, 8);            // b; joined with e
  unit.out.place(at[4], 0x800, 16);           // d; with d. c has none: nothing is joined with b
  unit.out.place(at[5], 0x504, std::nullopt); // e; with c
  DebugTypes types = unit.read();
  EXPECT_EQ(text(types.statics_at(0x800 + bias)), "b@8 d@16 ");
  EXPECT_EQ(text(types.find("Cache")->unplaced), "c@0 ");
  EXPECT_TRUE(types.statics_at(0x500 + bias).empty());
}

// Those in plain memory are not used, so they have no places: the first one that can be in an object is.
TEST(DebugTypes, StaticFieldsWithoutPlaces) {
  Unit unit({});
  const u64 with_reference = unit.out.class_type("Pair", 16, 0, {{"x", unit.number, 0}, {"y", unit.to_object, 8}})[0];
  std::vector<u64> at = unit.out.class_type(
      "Cache", 8, unit.object, {},
      {{"a", unit.number}, {"b", with_reference}, {"c", unit.to_object}, {"t", unit.number}, {"u", unit.to_object}});
  unit.out.place(at[1], 0x800, 8);
  unit.out.place(at[2], 0x800, 24);
  DebugTypes types = unit.read();
  EXPECT_EQ(text(types.statics_at(0x800 + bias)), "b@8 c@24 ");
  EXPECT_EQ(text(types.find("Cache")->unplaced), "t@0 u@0 ");
}

TEST(DebugTypes, StaticFieldsThatCannotBe) {
  auto found = [](auto make) {
    Unit unit({});
    std::vector<u64> at = unit.out.class_type("Cache", 8, unit.object, {},
                                              {{"a", unit.number}, {"b", unit.to_object}, {"c", unit.to_object}});
    make(unit, at);
    DebugTypes types = unit.read();
    return text(types.statics_at(0x800 + bias)) + "/" + text(types.find("Cache")->unplaced);
  };
  // Two places for numbers in an object: one of them is none.
  EXPECT_EQ(found([](Unit &unit, auto &at) {
              unit.out.place(at[1], 0x800, 8);
              unit.out.place(at[2], 0x800, 16);
              unit.out.place(at[3], 0x800, 24);
            }),
            "/");
  EXPECT_EQ(found([](Unit &unit, auto &at) { // descending
              unit.out.place(at[1], 0x800, 16);
              unit.out.place(at[2], 0x800, 8);
            }),
            "/");
  EXPECT_EQ(found([](Unit &unit, auto &at) { // of two objects
              unit.out.place(at[1], 0x800, 8);
              unit.out.place(at[2], 0x900, 16);
            }),
            "/");
  // Two classes that claim the same object, and differ.
  EXPECT_EQ(found([](Unit &unit, auto &at) {
              unit.out.place(at[1], 0x800, 8);
              std::vector<u64> other = unit.out.class_type("Other", 8, unit.object, {}, {{"z", unit.to_object}});
              unit.out.place(other[1], 0x800, 8);
            }),
            "/c@0 ");
}

TEST(DebugTypes, NoFileAtAll) {
  EXPECT_EQ(DebugTypes().find("Node"), nullptr);
  EXPECT_EQ(DebugTypes(DebugFile(), 8).find("Node"), nullptr);
  DebugFileWriter empty{};
  std::vector<std::byte> file = empty.write();
  EXPECT_EQ(DebugTypes(DebugFile(file, 0, nullptr), 8).find("Node"), nullptr);
}

// Structs in themselves, and whatever else damage makes of types: everything asked about has an answer.
TEST(DebugTypes, Damaged) {
  std::mt19937_64 random(1);
  Unit unit({});
  const u64 declared = unit.out.declaration("Loop");
  unit.out.class_type("Loop", 16, 0, {{"_self", declared, 0}, {"_other", unit.to_object, 8}});
  std::vector<u64> at = unit.out.class_type("Cache", 8, unit.object, {}, {{"a", declared}, {"b", unit.to_object}});
  unit.out.place(at[1], 0x800, 8);
  unit.out.end_unit();
  const std::vector<std::byte> file = file_of(unit.out, {});
  for (u64 i = 0; i < file.size(); ++i)
    for (bool cut : {false, true}) {
      std::vector<std::byte> changed = file;
      if (cut)
        changed.resize(i);
      else
        changed[i] = static_cast<std::byte>(random());
      DebugTypes types(DebugFile(changed, bias, nullptr), 8);
      for (const char *name : {"Object", "Loop", "Cache"})
        if (const DebugTypes::Class *found = types.find(name)) {
          for (const DebugTypes::Field &field : found->fields)
            EXPECT_LE(types.type(field.type).name.size(), changed.size());
        }
      EXPECT_LE(types.statics_at(0x800 + bias).size(), 2u);
    }
}

} // namespace
} // namespace dnheap::test
