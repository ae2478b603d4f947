#include "image/pe_image.h"
#include "support/damage.h"
#include "support/pe_writer.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap {
namespace {

using test::PeWriter;

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
  std::optional<PeBlock> functions = image.functions();
  ASSERT_TRUE(functions);
  EXPECT_EQ(functions->size, 24u);
  EXPECT_EQ(functions->address - metadata_at, PeWriter::functions - PeWriter::metadata);
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
    const std::vector<std::byte> file = test::damaged(good, random);
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
