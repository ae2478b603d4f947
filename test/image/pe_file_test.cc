#include "image/pe_file.h"
#include "support/damage.h"
#include "support/pe_writer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace dnheap {
namespace {

using test::PeWriter;

constexpr Address base = 0x10000000;

bool holds(const std::vector<Range> &ranges, Address address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range &r) { return address >= r.address && address - r.address < r.bytes.size(); });
}

TEST(PeFile, LaysOutAsTheLoaderWould) {
  for (bool wide : {true, false})
    for (Address at : {base, Address{0x70000000}}) {
      SCOPED_TRACE(wide ? "PE32+" : "PE32");
      PeWriter writer{.wide = wide};
      const std::vector<std::byte> bytes = writer.write();
      std::optional<PeFile> file = PeFile::parse(bytes);
      ASSERT_TRUE(file);
      std::vector<std::shared_ptr<const void>> storage;
      PeFile::Layout layout = file->layout(at, storage);
      Memory constants({static_cast<u8>(wide ? 8 : 4), ByteOrder::little}, layout.constants);
      Memory initial(constants.format(), layout.initial);
      EXPECT_EQ(as_text(constants.view(at, 2)), "MZ");
      EXPECT_EQ(as_text(constants.view(at + PeWriter::metadata, 4)), "BSJB");
      EXPECT_EQ(constants.try_pointer(at + PeWriter::constant_pointer), at + PeWriter::metadata);
      EXPECT_EQ(initial.try_pointer(at + PeWriter::variable_pointer), at + PeWriter::metadata);
      EXPECT_FALSE(holds(layout.constants, at + PeWriter::variable_pointer)) << "a variable is no constant";
      EXPECT_FALSE(holds(layout.initial, at + PeWriter::constant_pointer));
      for (u32 offset : {0, 15})
        EXPECT_FALSE(holds(layout.constants, at + PeWriter::imports + offset)) << "the loader writes there";
      EXPECT_TRUE(holds(layout.constants, at + PeWriter::imports - 1));
      EXPECT_TRUE(holds(layout.constants, at + PeWriter::imports + 16));
      // The file itself is as before.
      EXPECT_EQ(bytes, writer.write());
    }
}

// Tables of code that was compiled ahead lie among variables, and yet never change: but what relocations change, or
// what is filled in later.
TEST(PeFile, TablesInAWritableSection) {
  constexpr u32 functions = 102, entry_points = 103, import_sections = 101, data = PeWriter::data_rva;
  for (Address at : {base, Address{0x180000000}}) {
    PeWriter writer{
        .tables = {{functions, data + 0x40, 16}, {import_sections, data + 0x60, 16}, {entry_points, data + 0x18, 16}}};
    const std::vector<std::byte> bytes = writer.write();
    std::optional<PeFile> file = PeFile::parse(bytes);
    ASSERT_TRUE(file);
    std::vector<std::shared_ptr<const void>> storage;
    const std::vector<Range> tables = file->constant_tables(at, file->initial(at, storage));
    EXPECT_TRUE(holds(tables, at + data + 0x40));
    EXPECT_TRUE(holds(tables, at + data + 0x4f));
    EXPECT_FALSE(holds(tables, at + data + 0x50));
    EXPECT_FALSE(holds(tables, at + data + 0x60));
    EXPECT_EQ(holds(tables, at + data + 0x20), at == 0x180000000) << "at its own address nothing is relocated";
  }
  // What is too long, or lies nowhere, is none.
  PeWriter writer{
      .tables = {{functions, data + 0x1f0, 0x20}, {entry_points, 0xfffffff0, 0x20}, {104, 0x9000, ~u32{0}}}};
  const std::vector<std::byte> bytes = writer.write();
  std::vector<std::shared_ptr<const void>> storage;
  std::optional<PeFile> file = PeFile::parse(bytes);
  EXPECT_TRUE(file->constant_tables(base, file->initial(base, storage)).empty());
}

TEST(PeFile, SectionsThatShareTheirBytes) {
  std::vector<std::byte> bytes = PeWriter{}.write();
  bytes.resize(0x10000);
  auto put = [&](u64 at, u32 value) {
    for (u64 i = 0; i < 4; ++i)
      bytes[at + i] = static_cast<std::byte>(value >> 8 * i);
  };
  constexpr u64 sections = 0x98 + 112 + 16 * 8;
  put(0x86, 60 | 240 << 16); // 60 sections, all of them the whole file
  for (u32 i = 0; i < 60; ++i) {
    put(sections + i * 40 + 8, 0x10000);
    put(sections + i * 40 + 12, 0x10000 * (i + 1));
    put(sections + i * 40 + 16, 0x10000);
    put(sections + i * 40 + 20, 0);
  }
  std::optional<PeFile> file = PeFile::parse(bytes);
  ASSERT_TRUE(file);
  std::vector<std::shared_ptr<const void>> storage;
  PeFile::Layout layout = file->layout(base, storage);
  u64 total = 0;
  for (const std::vector<Range> &ranges : {layout.constants, layout.initial})
    for (const Range &range : ranges)
      total += range.bytes.size();
  EXPECT_LE(total, 2 * bytes.size());
}

TEST(PeFile, RandomDamageDoesNoHarm) {
  std::mt19937 random(13);
  for (bool wide : {true, false}) {
    const std::vector<std::byte> good = PeWriter{.wide = wide}.write();
    for (int round = 0; round < 5000; ++round) {
      const std::vector<std::byte> bytes = test::damaged(good, random);
      std::optional<PeFile> file = PeFile::parse(bytes);
      std::vector<std::shared_ptr<const void>> storage;
      if (!file)
        continue;
      u64 total = 0;
      PeFile::Layout layout = file->layout(base, storage);
      for (const std::vector<Range> &ranges : {layout.constants, layout.initial})
        for (const Range &range : ranges)
          total += range.bytes.size();
      EXPECT_LE(total, 2 * bytes.size());
    }
  }
}

} // namespace
} // namespace dnheap
