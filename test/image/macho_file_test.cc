// Mach-O files laid out as the loader would do it.
#include "image/macho_file.h"
#include "image/macho_image.h"
#include "support/damage.h"
#include "support/macho_writer.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap {
namespace {

using test::MachoLibraryWriter;

constexpr Format macho_file_words{8, ByteOrder::little};
constexpr Address load_base = 0x120000000;

MachoLibraryWriter with_fixups() {
  MachoLibraryWriter out;
  out.uuid = std::vector<u8>(16, 7);
  out.read_only.resize(64, std::byte{0x22});
  out.writable.resize(0x4000 + 0x100, std::byte{0x33});
  out.symbols = {{.name = "Descriptor", .value = MachoLibraryWriter::writable_at}};
  // Two in one page with an imported one between them, one in the next page.
  out.fixups = {{0x10, MachoLibraryWriter::read_only_at + 8}, {0x40, 5, true}, {0x80, 0x123}, {0x4020, 0x456}};
  return out;
}

struct LaidOut {
  explicit LaidOut(Bytes file) : pieces(MachoFile::parse(file)->layout(load_base, storage)) {
    std::vector<Range> ranges;
    for (const MachoFile::Piece &piece : pieces)
      ranges.push_back(piece.range);
    memory = Memory(macho_file_words, ranges);
  }

  std::vector<std::shared_ptr<const void>> storage;
  std::vector<MachoFile::Piece> pieces;
  Memory memory;
};

TEST(MachoFile, AppliesChainedFixups) {
  for (u16 format : {2, 6})
    for (u64 preferred : {u64{0}, u64{0x100000000}}) {
      SCOPED_TRACE(format);
      MachoLibraryWriter writer = with_fixups();
      writer.pointer_format = format;
      writer.preferred = preferred;
      const std::vector<std::byte> file = writer.write();
      EXPECT_EQ(MachoFile::parse(file)->build_id(), writer.uuid);
      const LaidOut laid(file);
      const Address data = load_base + MachoLibraryWriter::writable_at;
      EXPECT_EQ(laid.memory.try_pointer(data + 0x10), load_base + MachoLibraryWriter::read_only_at + 8);
      EXPECT_FALSE(laid.memory.try_pointer(data + 0x40)) << "another module's symbol";
      EXPECT_EQ(laid.memory.try_pointer(data + 0x48), 0x3333333333333333u);
      EXPECT_EQ(laid.memory.try_pointer(data + 0x80), load_base + 0x123);
      EXPECT_EQ(laid.memory.try_pointer(data + 0x4020), load_base + 0x456);
      EXPECT_EQ(laid.memory.try_load<u8>(load_base + MachoLibraryWriter::read_only_at), 0x22);
      const std::optional<MachoImage> image = MachoImage::at(laid.memory, load_base);
      ASSERT_TRUE(image);
      EXPECT_EQ(image->find_symbol("Descriptor"), data);
      for (const MachoFile::Piece &piece : laid.pieces)
        EXPECT_EQ(piece.is_constant, piece.range.address < data || piece.range.address >= data + 0x100000);
    }
}

TEST(MachoFile, WhatTheLoaderAloneWritesIsConstant) {
  MachoLibraryWriter writer = with_fixups();
  writer.writable_flags = macho::segment_read_only;
  const std::vector<std::byte> file = writer.write();
  EXPECT_TRUE(std::ranges::all_of(LaidOut(file).pieces, &MachoFile::Piece::is_constant));
}

// Words that a loader would change in ways that are not known are no words to show.
TEST(MachoFile, LeavesOutWhatItsFixupsWouldChange) {
  const Address data = load_base + MachoLibraryWriter::writable_at;
  MachoLibraryWriter writer = with_fixups();
  writer.pointer_format = 1; // arm64e's
  std::vector<std::byte> file = writer.write();
  EXPECT_FALSE(LaidOut(file).memory.try_pointer(data));
  EXPECT_TRUE(LaidOut(file).memory.try_pointer(load_base));
  writer = with_fixups();
  writer.exports = MachoLibraryWriter::Exports::trie_of_dyld_info;
  file = writer.write();
  EXPECT_FALSE(LaidOut(file).memory.try_pointer(data));
}

TEST(MachoFile, SlicesOfUniversalFiles) {
  MachoLibraryWriter one = with_fixups(), two = with_fixups();
  one.cpu = macho::cpu_x64;
  two.uuid = std::vector<u8>(16, 9);
  for (bool wide : {false, true}) {
    const std::vector<std::byte> file = test::universal_file({one.write(), two.write()}, wide);
    EXPECT_TRUE(is_macho_file(file));
    const std::vector<Bytes> slices = macho_slices(file);
    ASSERT_EQ(slices.size(), 2u);
    EXPECT_EQ(MachoFile::parse(slices[0])->cpu(), macho::cpu_x64);
    EXPECT_EQ(MachoFile::parse(slices[1])->build_id(), two.uuid);
    for (u64 cut : {4, 9, 40, 0x4000})
      EXPECT_LE(macho_slices(Bytes(file).first(cut)).size(), 1u);
  }
  const std::vector<std::byte> plain = one.write();
  EXPECT_EQ(macho_slices(plain).size(), 1u);
}

TEST(MachoFile, DamageIsNoError) {
  std::mt19937 random(7);
  const std::vector<std::byte> sound = with_fixups().write();
  u64 read = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<std::byte> file = test::damaged(sound, random);
    std::vector<std::shared_ptr<const void>> storage;
    for (const Bytes slice : macho_slices(file))
      if (const std::optional<MachoFile> parsed = MachoFile::parse(slice))
        read += !parsed->layout(load_base, storage).empty();
  }
  EXPECT_GT(read, 500u);
}

} // namespace
} // namespace dnheap
