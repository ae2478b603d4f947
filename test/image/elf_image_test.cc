#include "image/elf_file.h"
#include "image/elf_image.h"
#include "support/elf_writer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace dnheap {
namespace {

using test::ElfLibraryWriter;

ElfLibraryWriter library(Format format) {
  ElfLibraryWriter out{.format = format};
  out.build_id = {0xde, 0xad, 0xbe, 0xef, 1, 2, 3};
  out.read_only.resize(5000, std::byte{0x90});
  out.writable.resize(64, std::byte{0x11});
  out.bss = 300;
  out.symbols = {{"DotNetRuntimeContractDescriptor", ElfLibraryWriter::writable_at + 8},
                 {"malloc", ElfLibraryWriter::read_only_at + 0x123},
                 {"imported", 0, 0},
                 {"per_thread", 16, 1, 6},
                 {"a_constant", 0x1234, 0xfff1}};
  for (int i = 0; i < 40; ++i)
    out.symbols.push_back({"filler_" + std::to_string(i), ElfLibraryWriter::read_only_at + static_cast<u64>(i)});
  return out;
}

// The library in memory as a loader would put it there.
struct Loaded {
  std::vector<std::byte> file;
  std::vector<std::shared_ptr<const void>> storage;
  Memory memory;

  Loaded(const ElfLibraryWriter &writer, Address base, Format memory_format) : file(writer.write()) {
    std::optional<ElfFile> elf = ElfFile::parse(file);
    EXPECT_TRUE(elf);
    memory = Memory(memory_format, elf->layout(base, storage));
  }
  Loaded(const ElfLibraryWriter &writer, Address base) : Loaded(writer, base, writer.format) {}
};

constexpr Address base = 0x70000000;

TEST(ElfImage, KnowsItsSegmentsAndBuildId) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    ElfLibraryWriter writer = library(format);
    Loaded loaded(writer, base);
    std::optional<ElfImage> image = ElfImage::at(loaded.memory, base);
    ASSERT_TRUE(image);
    EXPECT_EQ(image->base(), base);
    EXPECT_EQ(image->bias(), base);
    EXPECT_EQ(image->end(), base + writer.end());
    EXPECT_EQ(image->machine(), writer.machine);
    EXPECT_EQ(image->format(), format);
    EXPECT_EQ(image->build_id(), writer.build_id);
    ASSERT_EQ(image->segments().size(), 3u);
    EXPECT_EQ(image->segments()[1].address, base + ElfLibraryWriter::read_only_at);
    EXPECT_EQ(image->segments()[1].size, 5000u);
    EXPECT_TRUE(image->segments()[1].executable);
    EXPECT_FALSE(image->segments()[1].writable);
    EXPECT_TRUE(image->segments()[2].writable);
    EXPECT_EQ(ElfFile::parse(loaded.file)->build_id(), writer.build_id);
    EXPECT_FALSE(ElfImage::at(loaded.memory, base + 0x1000));
  }
}

void expect_symbols(const ElfImage &image) {
  EXPECT_EQ(image.find_symbol("DotNetRuntimeContractDescriptor"), base + ElfLibraryWriter::writable_at + 8);
  EXPECT_EQ(image.find_symbol("malloc"), base + ElfLibraryWriter::read_only_at + 0x123);
  EXPECT_EQ(image.find_symbol("a_constant"), 0x1234u);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(image.find_symbol("filler_" + std::to_string(i)), base + ElfLibraryWriter::read_only_at + i);
  for (const char *absent : {"imported", "per_thread", "mallo", "mallocx", "", "filler_40"})
    EXPECT_FALSE(image.find_symbol(absent)) << absent;
}

TEST(ElfImage, FindsSymbolsByEitherHashAndWithEitherKindOfPointer) {
  for (Format format : test::all_formats)
    for (bool gnu : {true, false})
      for (u64 pointer_bias : {u64{0}, base}) {
        SCOPED_TRACE(test::name_of(format) + (gnu ? " gnu" : " sysv") + (pointer_bias ? " relocated" : ""));
        ElfLibraryWriter writer = library(format);
        writer.gnu_hash = gnu;
        writer.sysv_hash = !gnu;
        writer.pointer_bias = pointer_bias;
        Loaded loaded(writer, base);
        std::optional<ElfImage> image = ElfImage::at(loaded.memory, base);
        ASSERT_TRUE(image);
        expect_symbols(*image);
      }
}

TEST(ElfImage, ByteOrderIsThatOfTheImage) {
  ElfLibraryWriter writer = library({8, ByteOrder::big});
  Loaded loaded(writer, base, {8, ByteOrder::little});
  std::optional<ElfImage> image = ElfImage::at(loaded.memory, base);
  ASSERT_TRUE(image);
  expect_symbols(*image);
}

TEST(ElfImage, MissingMemoryGivesNothingButNoWrongAnswer) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    Loaded loaded(library(format), base);
    Address symbol = base + ElfLibraryWriter::read_only_at + 0x123;
    for (const Range &range : loaded.memory.ranges())
      for (u64 hole = 0; hole < range.bytes.size(); hole += 16) {
        std::vector<Range> ranges;
        for (const Range &other : loaded.memory.ranges())
          if (other.address != range.address)
            ranges.push_back(other);
        ranges.push_back({range.address, range.bytes.first(hole)});
        ranges.push_back(
            {range.address + hole + 16, range.bytes.subspan(std::min<u64>(hole + 16, range.bytes.size()))});
        Memory memory(format, ranges);
        std::optional<ElfImage> image = ElfImage::at(memory, base);
        if (!image)
          continue;
        std::optional<Address> found = image->find_symbol("malloc");
        EXPECT_TRUE(!found || found == symbol);
      }
  }
}

TEST(ElfImage, RandomDamageDoesNoHarm) {
  std::mt19937 random(7);
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    ElfLibraryWriter writer = library(format);
    writer.sysv_hash = true;
    for (int i = 0; i < 8; ++i)
      writer.relocations.push_back({ElfLibraryWriter::writable_at + 8 * static_cast<u64>(i), 0x10000,
                                    static_cast<ElfLibraryWriter::Relocation::Kind>(i % 3)});
    const std::vector<std::byte> good = writer.write();
    for (int round = 0; round < 2000; ++round) {
      std::vector<std::byte> file = good;
      for (u64 hits = 1 + random() % 8; hits; --hits) {
        // Mostly in the headers and tables, which is where damage matters.
        u64 at = random() % (random() % 4 ? 0x400 : file.size());
        file[at] = static_cast<std::byte>(random() % 3 ? random() : 0xff);
      }
      if (random() % 8 == 0)
        file.resize(random() % file.size());
      std::optional<ElfFile> elf = ElfFile::parse(file);
      if (!elf)
        continue;
      elf->build_id();
      std::vector<std::shared_ptr<const void>> storage;
      Memory memory(format, elf->layout(base, storage));
      if (std::optional<ElfImage> image = ElfImage::at(memory, base)) {
        image->build_id();
        image->find_symbol("malloc");
        image->find_symbol("nothing");
      }
    }
  }
}

} // namespace
} // namespace dnheap
