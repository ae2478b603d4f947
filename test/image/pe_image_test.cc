#include "image/pe_image.h"
#include "support/elf_writer.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap {
namespace {

// A managed PE file: .text (RVA 0x2000, in the file at 0x400) with CLI header, metadata, exports and debug directory,
// .data (RVA 0x4000) larger in memory than in the file.
struct PeWriter {
  static constexpr u32 text_rva = 0x2000, text_offset = 0x400, text_size = 0x400, data_rva = 0x4000,
                       data_offset = 0x800, data_size = 0x200, image_size = 0x6000;
  static constexpr u32 cli = text_rva, metadata = text_rva + 0x80, exports = text_rva + 0x100, debug = text_rva + 0x200,
                       code_view = text_rva + 0x240;

  bool wide = true;
  u32 cli_size = 72;

  std::vector<std::byte> write() const {
    test::FormatWriter out({8, ByteOrder::little});
    out.fill_to(data_offset + data_size);
    auto put = [&](u64 at, u64 value, u64 size = 4) { out.put_at(at, value, size); };
    auto put_text = [&](u64 at, std::string_view text) {
      for (char c : text)
        put(at++, static_cast<u8>(c), 1);
    };
    put_text(0, "MZ");
    put(60, 0x80);
    put_text(0x80, "PE");
    put(0x84, 0x8664, 2);
    put(0x86, 2, 2);
    put(0x88, 0x5eadbeef);
    u64 optional = 0x98, directories = optional + (wide ? 112 : 96);
    put(0x94, (wide ? 112 : 96) + 16 * 8, 2);
    put(optional, wide ? 0x20b : 0x10b, 2);
    if (wide)
      put(optional + 24, 0x180000000, 8);
    else
      put(optional + 28, 0x400000);
    put(optional + 56, image_size);
    put(optional + 60, 0x400);
    put(directories - 4, 16);
    auto directory = [&](u64 index, u32 rva, u32 size) {
      put(directories + index * 8, rva);
      put(directories + index * 8 + 4, size);
    };
    directory(0, exports, 0x100);
    directory(6, debug, 56);
    directory(14, cli, cli_size);
    u64 sections = directories + 16 * 8;
    auto section = [&](u64 index, const char *name, u32 rva, u32 virtual_size, u32 offset, u32 size) {
      u64 at = sections + index * 40;
      put_text(at, name);
      put(at + 8, virtual_size);
      put(at + 12, rva);
      put(at + 16, size);
      put(at + 20, offset);
    };
    section(0, ".text", text_rva, text_size, text_offset, text_size);
    section(1, ".data", data_rva, 0x1000, data_offset, data_size);

    auto at = [](u32 rva) { return rva - text_rva + text_offset; };
    put(at(cli), cli_size);
    put(at(cli) + 8, metadata);
    put(at(cli) + 12, 0x60);
    put_text(at(metadata), "BSJB");
    put(at(exports) + 20, 2);
    put(at(exports) + 24, 2);
    put(at(exports) + 28, exports + 40); // functions
    put(at(exports) + 32, exports + 48); // names
    put(at(exports) + 36, exports + 56); // indices
    put(at(exports) + 40, exports + 0x80);
    put(at(exports) + 44, data_rva + 0x10);
    put(at(exports) + 48, exports + 60);
    put(at(exports) + 52, exports + 70);
    put(at(exports) + 56, 0, 2);
    put(at(exports) + 58, 1, 2);
    put_text(at(exports) + 60, "Forwarded");
    put_text(at(exports) + 70, "Descriptor");
    put_text(at(exports) + 0x80, "other.dll.Function");
    put(at(debug) + 12, 16); // "reproducible", no data
    put(at(debug) + 28 + 12, 2);
    put(at(debug) + 28 + 20, code_view);
    put(at(debug) + 28 + 24, at(code_view));
    put_text(at(code_view), "RSDS");
    for (u64 i = 0; i < 16; ++i)
      put(at(code_view) + 4 + i, i + 1, 1);
    put(at(code_view) + 20, 7);
    put_text(at(code_view) + 24, "zoo.pdb");
    return out.bytes();
  }

  // The same as the Windows loader or the runtime would map it.
  static std::vector<Range> mapped(Bytes file, Address base) {
    return {{base, file.first(0x400)},
            {base + text_rva, file.subspan(text_offset, text_size)},
            {base + data_rva, file.subspan(data_offset, data_size)}};
  }
};

constexpr Address base = 0x10000000;

void expect_contents(const PeImage &image, Address metadata_at) {
  EXPECT_EQ(image.machine(), 0x8664);
  EXPECT_EQ(image.time_date_stamp(), 0x5eadbeefu);
  EXPECT_EQ(image.size_of_image(), PeWriter::image_size);
  EXPECT_TRUE(image.is_managed());
  ASSERT_EQ(image.sections().size(), 2u);
  EXPECT_EQ(image.sections()[1].name, ".data");
  std::optional<PeBlock> metadata = image.metadata();
  ASSERT_TRUE(metadata);
  EXPECT_EQ(metadata->address, metadata_at);
  EXPECT_EQ(metadata->size, 0x60u);
  EXPECT_EQ(as_text(image.view(*metadata)).substr(0, 4), "BSJB");
  EXPECT_EQ(image.find_export("Descriptor"), PeWriter::data_rva + 0x10);
  EXPECT_FALSE(image.find_export("Forwarded"));
  EXPECT_FALSE(image.find_export("Descripto"));
  EXPECT_FALSE(image.find_export("None"));
  std::optional<PeImage::CodeView> pdb = image.code_view();
  ASSERT_TRUE(pdb);
  EXPECT_EQ(pdb->age, 7u);
  EXPECT_EQ(pdb->guid[15], 16);
  EXPECT_EQ(pdb->path, "zoo.pdb");
}

TEST(PeImage, ReadsFilesAndBothLayoutsInMemory) {
  for (bool wide : {true, false}) {
    std::vector<std::byte> file = PeWriter{.wide = wide}.write();
    std::optional<PeImage> flat_file = PeImage::from_file(file);
    ASSERT_TRUE(flat_file);
    EXPECT_EQ(flat_file->image_base(), wide ? 0x180000000u : 0x400000u);
    u64 metadata_offset = PeWriter::text_offset + 0x80;
    expect_contents(*flat_file, metadata_offset);
    for (Format format : test::all_formats) { // PE is little-endian, whatever the target is
      SCOPED_TRACE(test::name_of(format));
      Memory flat(format, {{base, file}}), mapped(format, PeWriter::mapped(file, base));
      std::optional<PeImage> flat_image = PeImage::at(flat, base, false), image = PeImage::at(mapped, base, true);
      ASSERT_TRUE(flat_image && image);
      expect_contents(*flat_image, base + metadata_offset);
      expect_contents(*image, base + PeWriter::metadata);
    }
  }
}

TEST(PeImage, TheWrongLayoutFindsNoMetadata) {
  std::vector<std::byte> file = PeWriter{}.write();
  Memory flat({}, {{base, file}}), mapped({}, PeWriter::mapped(file, base));
  EXPECT_FALSE(PeImage::at(flat, base, true)->metadata());
  EXPECT_FALSE(PeImage::at(mapped, base, false)->metadata());
}

TEST(PeImage, FindsOnlyWhatTheImageHolds) {
  std::vector<std::byte> file = PeWriter{}.write();
  PeImage image = *PeImage::from_file(file);
  EXPECT_EQ(image.find(0x10, 4)->address, 0x10u);
  EXPECT_EQ(image.find(PeWriter::data_rva + 8, 8)->address, PeWriter::data_offset + 8u);
  EXPECT_FALSE(image.find(0x1000, 1));                                       // between headers and .text
  EXPECT_FALSE(image.find(PeWriter::data_rva + PeWriter::data_size - 1, 2)); // the zeros behind .data
  EXPECT_FALSE(image.find(0xffffffff, 0xffffffffffffffff));
  Memory mapped({}, PeWriter::mapped(file, base));
  PeImage in_memory = *PeImage::at(mapped, base, true);
  EXPECT_EQ(in_memory.find(PeWriter::image_size - 1, 1)->address, base + PeWriter::image_size - 1);
  EXPECT_FALSE(in_memory.find(PeWriter::image_size, 1));
  EXPECT_TRUE(in_memory.view({base + 0x1000, 4}).empty());
}

TEST(PeImage, UnmanagedAndForeignFiles) {
  std::vector<std::byte> file = PeWriter{.cli_size = 0}.write();
  EXPECT_FALSE(PeImage::from_file(file)->is_managed());
  EXPECT_FALSE(PeImage::from_file(file)->metadata());
  EXPECT_FALSE(PeImage::from_file({}));
  EXPECT_FALSE(PeImage::from_file(Bytes(file).first(0x100)));
  std::vector<std::byte> zeros(4096);
  EXPECT_FALSE(PeImage::from_file(zeros));
}

TEST(PeImage, RandomDamageDoesNoHarm) {
  std::mt19937 random(11);
  const std::vector<std::byte> good = PeWriter{}.write();
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> file = good;
    for (u64 hits = 1 + random() % 6; hits; --hits)
      file[random() % file.size()] = static_cast<std::byte>(random() % 3 ? random() : 0xff);
    if (random() % 4 == 0)
      file.resize(random() % file.size());
    Memory memory({8, ByteOrder::little}, {{base, file}});
    for (std::optional<PeImage> image :
         {PeImage::from_file(file), PeImage::at(memory, base, true), PeImage::at(memory, base, false)})
      if (image) {
        image->metadata();
        image->find_export("Descriptor");
        image->code_view();
      }
  }
}

} // namespace
} // namespace dnheap
