// Portable PDBs against what was written: every offset of every method has the line of the last visible point before
// it; documents, awaits; and what is no PDB does no harm.
#include "metadata/portable_pdb.h"
#include "support/metadata_writer.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

struct Point {
  u32 il_offset = 0, document = 1, line = 0, column = 1; // line 0: hidden
};

Blob signed_number(i32 value) {
  const u32 sizes[] = {7, 14, 29};
  for (u32 bits : sizes) {
    const i32 half = 1 << (bits - 1);
    if (value < -half || value >= half)
      continue;
    const u32 mask = (1u << bits) - 1, rotated = (static_cast<u32>(value) << 1 & mask) | (value < 0 ? 1 : 0);
    // As many bytes as the sign was counted for.
    if (bits == 7)
      return {static_cast<u8>(rotated)};
    if (bits == 14)
      return {static_cast<u8>(0x80 | rotated >> 8), static_cast<u8>(rotated)};
    return {static_cast<u8>(0xc0 | rotated >> 24), static_cast<u8>(rotated >> 16), static_cast<u8>(rotated >> 8),
            static_cast<u8>(rotated)};
  }
  return {};
}

// `document`: of the method's row; 0: it stands in the blob.
Blob sequence_points(const std::vector<Point> &points, u32 document) {
  Blob out = compressed(0x11000001 & 0xffff);
  u32 current = document;
  if (!document)
    out = out + compressed(current = points.at(0).document);
  u32 il = 0;
  i32 line = -1, column = 0;
  for (u64 i = 0; i < points.size(); ++i) {
    const Point &point = points[i];
    if (point.document != current && i > 0)
      out = out + compressed(0) + compressed(current = point.document);
    out = out + compressed(point.il_offset - il);
    il = point.il_offset;
    if (!point.line) {
      out = out + compressed(0) + compressed(0);
      continue;
    }
    const bool one_line = i % 3 != 0;
    out = out + compressed(one_line ? 0 : 2) + (one_line ? compressed(9) : signed_number(-3));
    if (line < 0)
      out = out + compressed(point.line) + compressed(point.column);
    else
      out = out + signed_number(static_cast<i32>(point.line) - line) +
            signed_number(static_cast<i32>(point.column) - column);
    line = static_cast<i32>(point.line);
    column = static_cast<i32>(point.column);
  }
  return out;
}

std::vector<Point> random_points(std::mt19937 &random) {
  std::vector<Point> out;
  u32 il = random() % 2 ? 0 : random() % 300;
  for (u32 i = 0, count = 1 + random() % 20; i < count; ++i) {
    out.push_back({il, static_cast<u32>(1 + random() % 2), static_cast<u32>(random() % 4 ? 1 + random() % 40000 : 0),
                   static_cast<u32>(1 + random() % 100)});
    il += 1 + static_cast<u32>(random() % 200);
  }
  out[0].document = 1;
  return out;
}

std::optional<SourcePoint> expected_at(const std::vector<Point> &points, u32 il_offset) {
  std::optional<SourcePoint> out;
  for (const Point &point : points)
    if (point.il_offset <= il_offset && point.line)
      out = SourcePoint{point.document, point.line};
  return out;
}

constexpr std::array<u8, 16> stepping = {0xc5, 0x2a, 0xfd, 0x54, 0x25, 0xe9, 0x1a, 0x40,
                                         0x9c, 0x2a, 0xf9, 0x4f, 0x17, 0x10, 0x72, 0xf8};

struct Written {
  explicit Written(u32 seed, u32 module_methods = 100) : random(seed) {
    id.resize(20);
    for (u8 &one : id)
      one = static_cast<u8>(random());
    for (const char *path : {"/src/shop/Cart.cs", "Generated.cs"})
      add_document(path);
    for (u32 i = 0; i < 8; ++i) {
      methods.push_back(i % 4 == 3 ? std::vector<Point>() : random_points(random));
      const bool is_whole = std::all_of(methods.back().begin(), methods.back().end(),
                                        [](const Point &point) { return point.document == 1; });
      const u32 document = is_whole ? 1 : 0;
      writer.row(Table::MethodDebugInformation,
                 {methods.back().empty() ? 0 : document,
                  methods.back().empty() ? 0 : writer.blob(sequence_points(methods.back(), document))});
    }
    Blob awaits(4, 0xff);
    for (u32 at : {10u, 20u, 300u}) {
      for (u32 word : {at, at + 5})
        for (unsigned i = 0; i < 4; ++i)
          awaits.push_back(static_cast<u8>(word >> (8 * i)));
      awaits = awaits + compressed(5);
    }
    std::array<u8, 16> other{};
    for (const auto &kind : {other, stepping})
      writer.row(Table::CustomDebugInformation,
                 {MetadataWriter::coded(ColumnKind::HasCustomDebugInformation, token(Table::MethodDef, 5)),
                  writer.guid(kind), writer.blob(awaits)});
    // Of method 2 a variable in all of it, and two with one number in scopes beside each other; of method 5 one.
    for (const auto &[name, number] : {std::pair("whole", 0u), {"early", 1u}, {"late", 1u}, {"other", 0u}})
      writer.row(Table::LocalVariable, {0, number, writer.string(name)});
    for (const auto &[method, variables, start, length] :
         {std::array{2u, 1u, 0u, 100u}, {2u, 2u, 10u, 20u}, {2u, 3u, 50u, 20u}, {5u, 4u, 0u, 9u}})
      writer.row(Table::LocalScope, {method, 0, variables, 1, start, length});
    MetadataShape shape;
    shape.pdb_id = id;
    shape.module_rows = {{Table::MethodDef, module_methods}};
    bytes = writer.write(shape);
  }

  void add_document(std::string_view path) {
    const bool has_separator = path.find('/') != path.npos;
    Blob name = {static_cast<u8>(has_separator ? '/' : 0)};
    for (std::string_view rest = path;;) {
      const std::size_t end = has_separator ? rest.find('/') : rest.npos;
      const std::string_view part = rest.substr(0, end);
      name = name + compressed(part.empty() ? 0 : writer.blob(Blob(part.begin(), part.end())));
      if (end == rest.npos)
        break;
      rest = rest.substr(end + 1);
    }
    writer.row(Table::Document, {writer.blob(name), 0, 0, 0});
  }

  std::mt19937 random;
  MetadataWriter writer;
  std::vector<u8> id;
  std::vector<std::vector<Point>> methods;
  std::vector<std::byte> bytes;
};

TEST(PortablePdb, EveryOffsetHasItsLine) {
  for (u32 seed = 0; seed < 60; ++seed) {
    const Written written(seed, seed % 2 ? 100 : 70000); // row numbers of the module take two bytes, or four
    const std::optional<PortablePdb> pdb = PortablePdb::parse(written.bytes);
    ASSERT_TRUE(pdb);
    EXPECT_TRUE(std::ranges::equal(pdb->id(), std::as_bytes(std::span(written.id))));
    for (u32 method = 1; method <= written.methods.size() + 2; ++method) {
      const std::vector<Point> none, &points = method <= written.methods.size() ? written.methods[method - 1] : none;
      for (u32 il = 0; il < (points.empty() ? 5 : points.back().il_offset + 5); ++il)
        ASSERT_EQ(pdb->find(method, il), expected_at(points, il))
            << "seed " << seed << " method " << method << " " << il;
    }
    EXPECT_EQ(pdb->find(0, 0), std::nullopt);
    EXPECT_EQ(pdb->document(1), "/src/shop/Cart.cs");
    EXPECT_EQ(pdb->document(2), "Generated.cs");
    EXPECT_EQ(pdb->document(3), "");
    EXPECT_EQ(pdb->awaits(5), (std::vector<u32>{10, 20, 300}));
    EXPECT_TRUE(pdb->awaits(4).empty());
    EXPECT_EQ(pdb->local(2, 0, 70), "whole");
    EXPECT_EQ(pdb->local(2, 1, 10), "early");
    EXPECT_EQ(pdb->local(2, 1, 70), "late");
    EXPECT_EQ(pdb->local(2, 1, 40), "");
    EXPECT_EQ(pdb->local(2, 2, 15), "");
    EXPECT_EQ(pdb->local(5, 0, 1), "other");
    EXPECT_EQ(pdb->local(4, 0, 1), "");
  }
}

TEST(PortablePdb, AModuleIsNone) {
  MetadataWriter writer;
  writer.type("Shop", "Cart");
  EXPECT_FALSE(PortablePdb::parse(writer.write()));
  EXPECT_FALSE(PortablePdb::parse({}));
}

TEST(PortablePdb, DamagedOnes) {
  const Written written(4);
  std::mt19937 random(9);
  for (int i = 0; i < 1500; ++i) {
    std::vector<std::byte> bytes = written.bytes;
    for (unsigned k = 0; k < 6; ++k)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (i % 5 == 0)
      bytes.resize(random() % bytes.size());
    const std::optional<PortablePdb> pdb = PortablePdb::parse(bytes);
    if (!pdb)
      continue;
    for (u32 method = 1; method < 12; ++method) {
      (void)pdb->find(method, 100000);
      EXPECT_LE(pdb->awaits(method).size(), bytes.size() / 8);
      EXPECT_LE(pdb->local(method, method % 3, 15).size(), 4096u);
      EXPECT_LE(pdb->document(method).size(), 4096u);
    }
  }
}

} // namespace
} // namespace dnheap::test
