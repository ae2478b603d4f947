#include "image/dwarf.h"
#include "support/dwarf_writer.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

std::vector<DwarfWriter::Shape> shapes() {
  std::vector<DwarfWriter::Shape> out;
  for (Format format : all_formats)
    for (unsigned version : {2u, 3u, 4u, 5u})
      for (bool wide : {false, true})
        out.push_back({format, version, wide});
  return out;
}

std::string name_of(const DwarfWriter::Shape &shape) {
  return test::name_of(shape.format) + " version " + std::to_string(shape.version) + (shape.wide ? " wide" : "");
}

std::vector<DwarfEntry> entries(const DwarfWriter &writer, Format format, const std::string &wanted = "us") {
  static std::vector<std::byte> info, abbrev, strings; // what is found points into them
  info = writer.info();
  abbrev = writer.abbrev();
  strings = writer.strings();
  std::vector<DwarfEntry> out;
  for_each_dwarf_entry(
      {info, abbrev, strings, {}, format.byte_order}, [&](std::string_view producer) { return producer == wanted; },
      [&](const DwarfEntry &entry) { out.push_back(entry); });
  return out;
}

// Two units, of which the second one counts.
DwarfWriter two_units(const DwarfWriter::Shape &shape) {
  DwarfWriter out(shape);
  out.begin_unit("others");
  out.class_type("Node", 16, 0, {});
  out.end_unit();
  out.begin_unit("us");
  u64 number = out.base_type("int", 5, 4), object = out.declaration("Object"), to = out.reference(object);
  std::vector<u64> node =
      out.class_type("Node", 0x12345, object, {{"_next", to, 8}, {"_count", number, 300}}, {{"s_all", to}});
  out.place(node[1], 0x12340, 24);
  out.end_unit();
  return out;
}

TEST(Dwarf, EveryShape) {
  for (const DwarfWriter::Shape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    DwarfWriter writer = two_units(shape);
    std::vector<DwarfEntry> found = entries(writer, shape.format);
    ASSERT_EQ(found.size(), 10u);
    EXPECT_EQ(found[0].tag, dwarf::tag_compile_unit);
    EXPECT_EQ(found[0].depth, 0u);
    EXPECT_EQ(found[1].name, "int");
    EXPECT_EQ(found[1].byte_size, 4u);
    EXPECT_TRUE(found[2].is_declaration);
    EXPECT_EQ(found[3].type, found[2].offset);
    EXPECT_EQ(found[4].name, "Node");
    EXPECT_EQ(found[4].byte_size, 0x12345u);
    EXPECT_FALSE(found[4].is_declaration);
    EXPECT_EQ(found[5].tag, dwarf::tag_inheritance);
    EXPECT_EQ(found[5].depth, 2u);
    EXPECT_EQ(found[5].type, found[2].offset);
    EXPECT_EQ(found[6].name, "_next");
    EXPECT_EQ(found[6].type, found[3].offset);
    EXPECT_EQ(found[6].data_member_location, 8u);
    EXPECT_EQ(found[7].data_member_location, 300u);
    EXPECT_EQ(found[8].data_member_location, std::nullopt);
    EXPECT_TRUE(found[8].is_declaration);
    EXPECT_EQ(found[9].tag, dwarf::tag_variable);
    EXPECT_EQ(found[9].depth, 1u);
    EXPECT_EQ(found[9].specification, found[8].offset);
    EXPECT_EQ(found[9].location.size(), 5u + shape.format.pointer_size);
    EXPECT_EQ(entries(writer, shape.format, "others").size(), 2u);
    EXPECT_TRUE(entries(writer, shape.format, "nobody").empty());
  }
}

// Attributes of every form between two names: a wrong size of one would lose the second name.
TEST(Dwarf, EveryFormHasItsSize) {
  struct Form {
    u16 form;
    u64 size; // 0: of an offset; ~0: of an address
  };
  const Form forms[] = {{0x01, ~u64{0}}, {0x05, 2}, {0x06, 4}, {0x07, 8},   {0x0b, 1},  {0x0c, 1},
                        {0x0e, 0},       {0x11, 1}, {0x12, 2}, {0x13, 4},   {0x14, 8},  {0x17, 0},
                        {0x19, 9},       {0x1c, 4}, {0x1d, 0}, {0x1e, 16},  {0x1f, 0},  {0x20, 8},
                        {0x24, 8},       {0x25, 1}, {0x26, 2}, {0x27, 3},   {0x28, 4},  {0x29, 1},
                        {0x2a, 2},       {0x2b, 3}, {0x2c, 4}, {0x1f20, 0}, {0x1f21, 0}};
  const std::string leb("\x81\x02", 2);
  for (const DwarfWriter::Shape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    DwarfWriter writer(shape);
    writer.begin_unit("us");
    auto add = [&](u16 form, std::string bytes) {
      // 0x8000 | form: the writer puts the bytes as they are; then it is a form through DW_FORM_indirect.
      std::string indirect;
      for (u64 v = form; indirect.empty() || v; v >>= 7)
        indirect += static_cast<char>((v & 0x7f) | (v >= 0x80 ? 0x80 : 0));
      writer.leaf(0x34, {{0x7777, 0x16, 0, indirect + bytes}, {0x03, 0x08, 0, "after " + std::to_string(form)}});
    };
    u64 count = 0;
    for (const Form &f : forms) {
      u64 size = f.size == 0 ? (shape.wide ? 8 : 4) : f.size;
      if (f.size == ~u64{0})
        size = shape.format.pointer_size;
      add(f.form, f.form == 0x19 ? "" : std::string(size, '\x01'));
      ++count;
    }
    for (u16 form : {0x0d, 0x0f, 0x15, 0x1a, 0x1b, 0x22, 0x23, 0x1f01, 0x1f02}) {
      add(form, leb);
      ++count;
    }
    add(0x08, std::string("text\0", 5));
    add(0x0a, std::string("\3abc", 4));
    add(0x09, std::string("\3abc", 4));
    add(0x18, std::string("\3abc", 4));
    count += 4;
    writer.end_unit();
    std::vector<DwarfEntry> found = entries(writer, shape.format);
    ASSERT_EQ(found.size(), 1 + count);
    for (u64 i = 1; i < found.size(); ++i)
      EXPECT_TRUE(found[i].name.starts_with("after ")) << i;
  }
}

TEST(Dwarf, AnUnknownFormEndsTheUnit) {
  DwarfWriter writer({});
  writer.begin_unit("us");
  writer.leaf(0x34, {{0x03, 0x08, 0, "before"}});
  writer.leaf(0x34, {{0x7777, 0x7f, 0, "?"}, {0x03, 0x08, 0, "after"}});
  writer.end_unit();
  writer.begin_unit("us");
  writer.end_unit();
  EXPECT_EQ(entries(writer, {}).size(), 3u); // the unit, one entry; the next unit
}

TEST(Dwarf, Uleb128) {
  auto take = [](std::string_view text, u64 rest) {
    Bytes bytes = std::as_bytes(std::span(text));
    std::optional<u64> out = take_uleb128(bytes);
    EXPECT_EQ(bytes.size(), rest);
    return out;
  };
  EXPECT_EQ(take("", 0), std::nullopt);
  EXPECT_EQ(take("\x7fx", 1), 127u);
  EXPECT_EQ(take("\xe5\x8e\x26", 0), 624485u);
  EXPECT_EQ(take("\x80\x80", 2), std::nullopt);
  EXPECT_EQ(take("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0), ~u64{0});
  EXPECT_EQ(take("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10), std::nullopt); // 65 bits
}

// An abbreviation with many attributes that take no bytes, used by many entries, costs no more than it is long.
TEST(Dwarf, AttributesWithoutBytes) {
  FormatWriter abbrev({}), info({});
  abbrev.put(1, 1);
  abbrev.put(0x11, 1);
  abbrev.put(1, 1);
  for (int i = 0; i < 100'000; ++i) {
    abbrev.put(0x3c, 1);
    abbrev.put(0x19, 1);
  }
  abbrev.put(0, 3);
  info.word(7 + 100'000);
  info.half(4);
  info.word(0);
  info.put(8, 1);
  for (int i = 0; i < 100'000; ++i)
    info.put(1, 1);
  u64 count = 0;
  for_each_dwarf_entry(
      {info.bytes(), abbrev.bytes(), {}, {}}, [](std::string_view) { return true; },
      [&](const DwarfEntry &) { ++count; });
  EXPECT_LT(count, 16u);
}

// Cut anywhere, and with any byte changed: no entry begins outside of the section, and their number is bounded.
TEST(Dwarf, Damaged) {
  std::mt19937_64 random(1);
  for (const DwarfWriter::Shape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    DwarfWriter writer = two_units(shape);
    const std::vector<std::byte> sections[] = {writer.info(), writer.abbrev(), writer.strings()};
    auto check = [&](const std::vector<std::byte> &info, const std::vector<std::byte> &abbrev,
                     const std::vector<std::byte> &strings) {
      u64 count = 0;
      for_each_dwarf_entry(
          {info, abbrev, strings, {}, shape.format.byte_order}, [](std::string_view) { return true; },
          [&](const DwarfEntry &entry) {
            ++count;
            EXPECT_LT(entry.offset, info.size());
            EXPECT_LE(entry.location.size(), info.size());
            EXPECT_LE(entry.name.size(), info.size() + strings.size());
          });
      EXPECT_LE(count, info.size());
    };
    for (u64 which = 0; which < 3; ++which)
      for (u64 i = 0; i < sections[which].size(); ++i) {
        std::vector<std::byte> changed[] = {sections[0], sections[1], sections[2]};
        changed[which].resize(i);
        check(changed[0], changed[1], changed[2]);
        changed[which] = sections[which];
        changed[which][i] ^= std::byte{static_cast<u8>(1 + random() % 255)};
        check(changed[0], changed[1], changed[2]);
      }
  }
}

} // namespace
} // namespace dnheap::test
