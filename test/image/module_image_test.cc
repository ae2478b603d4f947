// What is asked of a mapped module whatever its format: the same of ELF and PE, in every format of a target.
#include "image/elf_file.h"
#include "image/module_image.h"
#include "support/elf_writer.h"
#include "support/pe_writer.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

using test::ElfLibraryWriter;
using test::PeWriter;

constexpr Address base = 0x40000000;

// A library with one exported variable, as the loader maps it.
struct Elf {
  explicit Elf(Format format) {
    ElfLibraryWriter writer{.format = format};
    writer.build_id = {0xde, 0xad, 1, 2};
    writer.read_only.resize(5000, std::byte{0x90});
    writer.writable.resize(64, std::byte{0x11});
    writer.bss = 300;
    writer.symbols = {{"Descriptor", ElfLibraryWriter::writable_at + 8}, {"imported", 0, 0}};
    file = writer.write();
    memory = Memory(format, ElfFile::parse(file)->layout(base, storage));
  }

  std::vector<std::byte> file;
  std::vector<std::shared_ptr<const void>> storage;
  Memory memory;
};

TEST(ModuleImage, OfElf) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    Elf elf(format);
    std::optional<ModuleImage> image = ModuleImage::at(elf.memory, base);
    ASSERT_TRUE(image);
    EXPECT_EQ(image->base(), base);
    EXPECT_EQ(image->bias(), base);
    EXPECT_EQ(image->end(), ElfImage::at(elf.memory, base)->end());
    EXPECT_EQ(image->find_symbol("Descriptor"), base + ElfLibraryWriter::writable_at + 8);
    EXPECT_FALSE(image->find_symbol("imported"));
    EXPECT_EQ(image->build_id(), (std::vector<u8>{0xde, 0xad, 1, 2}));
    EXPECT_FALSE(image->is_managed());
    EXPECT_FALSE(image->relocates_constants());
    EXPECT_TRUE(image->has_writable_sections());
    u64 writable = 0;
    for (const ModuleImage::Section &section : image->sections())
      if (section.writable) {
        ++writable;
        EXPECT_EQ(section.address, base + ElfLibraryWriter::writable_at);
        EXPECT_EQ(section.address + section.size, image->end());
      }
    EXPECT_EQ(writable, 1u);
  }
}

TEST(ModuleImage, OfPe) {
  for (bool wide : {true, false}) {
    PeWriter writer{.wide = wide};
    const std::vector<std::byte> file = writer.write();
    for (Format format : test::all_formats) { // PE is little-endian, whatever the target is
      SCOPED_TRACE(test::name_of(format));
      Memory memory(format, PeWriter::mapped(file, base));
      std::optional<ModuleImage> image = ModuleImage::at(memory, base);
      ASSERT_TRUE(image);
      EXPECT_EQ(image->base(), base);
      EXPECT_EQ(image->bias(), base - writer.image_base());
      EXPECT_EQ(image->end(), base + PeWriter::image_size);
      EXPECT_EQ(image->find_symbol("Descriptor"), base + PeWriter::data_rva + 0x10);
      EXPECT_FALSE(image->find_symbol("Forwarded"));
      EXPECT_TRUE(image->build_id().empty());
      EXPECT_TRUE(image->is_managed());
      EXPECT_TRUE(image->relocates_constants());
      ASSERT_EQ(image->sections().size(), 2u);
      EXPECT_FALSE(image->sections()[0].writable);
      EXPECT_TRUE(image->sections()[1].writable);
      EXPECT_EQ(image->sections()[1].address, base + PeWriter::data_rva);
      std::vector<Range> writable = image->writable_bytes(memory);
      ASSERT_EQ(writable.size(), 1u);
      EXPECT_EQ(writable[0].address, base + PeWriter::data_rva);
      EXPECT_EQ(writable[0].bytes.size(), PeWriter::data_size);
      EXPECT_EQ(image->relocated_bytes(memory).size(), 1u); // the other section may be run
    }
    const std::vector<std::byte> native = PeWriter{.wide = wide, .cli_size = 0, .is_text_run = false}.write();
    Memory memory({}, PeWriter::mapped(native, base));
    EXPECT_FALSE(ModuleImage::at(memory, base)->is_managed());
    EXPECT_EQ(ModuleImage::at(memory, base)->relocated_bytes(memory).size(), 2u);
  }
}

TEST(ModuleImage, WritableBytesAreThoseThatAMemoryKnows) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    Elf elf(format);
    std::optional<ModuleImage> image = ModuleImage::at(elf.memory, base);
    ASSERT_TRUE(image);
    const Address start = base + ElfLibraryWriter::writable_at;
    // All but .bss, which no file holds.
    std::vector<Range> all = image->writable_bytes(elf.memory);
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().address, start);
    EXPECT_EQ(all.front().bytes[0], std::byte{0x11});
    EXPECT_EQ(all.back().end(), image->end() - 300);
    // Another memory: two pieces, one of which begins before the segment and one of which ends behind it.
    std::vector<std::byte> bytes(4096);
    std::vector<Range> some =
        image->writable_bytes(Memory(format, {{start - 100, Bytes(bytes).first(108)},
                                              {image->end() - 8, Bytes(bytes).subspan(200, 100)},
                                              {image->end() + 1000, Bytes(bytes).subspan(400, 100)}}));
    ASSERT_EQ(some.size(), 2u);
    EXPECT_EQ(some[0].address, start);
    EXPECT_EQ(some[0].bytes.size(), 8u);
    EXPECT_EQ(some[1].address, image->end() - 8);
    EXPECT_EQ(some[1].bytes.size(), 8u);
  }
}

TEST(ModuleImage, OtherBytesAreNone) {
  std::vector<std::byte> bytes(4096, std::byte{0x7f});
  Memory memory({}, {{base, bytes}});
  EXPECT_FALSE(ModuleImage::at(memory, base));
  EXPECT_FALSE(ModuleImage::at(memory, base + 0x100000));
}

TEST(ModuleImage, WhatAFileExports) {
  for (Format format : test::all_formats) {
    Elf elf(format);
    constexpr const char *none[] = {"imported", "Descripto"}, *one[] = {"imported", "Descriptor"};
    EXPECT_TRUE(exports_any(elf.file, one));
    EXPECT_FALSE(exports_any(elf.file, none));
    EXPECT_FALSE(exports_any({}, one));
  }
}

} // namespace
} // namespace dnheap
