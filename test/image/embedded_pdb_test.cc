// The .pdb that an assembly names, or holds.
#include "image/embedded_pdb.h"
#include "image/pe_image.h"
#include "support/pe_writer.h"

#include <gtest/gtest.h>
#include <random>
#include <zlib.h>

namespace dnheap::test {
namespace {

std::vector<std::byte> packed(const std::string &text, u32 claimed) {
  std::vector<Bytef> out(compressBound(text.size()) + 64);
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  std::vector<std::byte> data;
  for (char c : {'M', 'P', 'D', 'B'})
    data.push_back(static_cast<std::byte>(c));
  for (unsigned i = 0; i < 4; ++i)
    data.push_back(static_cast<std::byte>(claimed >> (8 * i)));
  for (Bytef one : out)
    data.push_back(static_cast<std::byte>(one));
  return data;
}

TEST(EmbeddedPdb, IsUnpacked) {
  const std::string text = std::string(5000, 'x') + "BSJB";
  EXPECT_EQ(as_text(unpack_embedded_pdb(packed(text, 5004))), text);
  for (u32 claimed : {0u, 5003u, 5005u, 0x7fffffffu})
    EXPECT_TRUE(unpack_embedded_pdb(packed(text, claimed)).empty()) << claimed;
  EXPECT_TRUE(unpack_embedded_pdb({}).empty());
  const std::vector<std::byte> sound = packed(text, 5004);
  for (u64 cut = 0; cut < sound.size(); ++cut)
    EXPECT_TRUE(unpack_embedded_pdb(Bytes(sound).first(cut)).empty()) << cut;
}

TEST(EmbeddedPdb, WhatTheImageSays) {
  for (bool wide : {true, false}) {
    PeWriter writer;
    writer.wide = wide;
    const std::vector<std::byte> plain = writer.write();
    writer.portable = true;
    const std::vector<std::byte> portable = writer.write();
    const std::optional<PeImage> windows = PeImage::from_file(plain), ours = PeImage::from_file(portable);
    ASSERT_TRUE(windows && ours);
    EXPECT_TRUE(windows->code_view());
    EXPECT_FALSE(windows->portable_code_view());
    EXPECT_FALSE(windows->embedded_pdb());
    const std::optional<PeImage::CodeView> found = ours->portable_code_view();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->stamp, 0x12345678u);
    EXPECT_EQ(found->guid[15], 16);
    EXPECT_EQ(found->path, "zoo.pdb");
    const std::optional<PeBlock> inside = ours->embedded_pdb();
    ASSERT_TRUE(inside);
    EXPECT_EQ(inside->size, 8u);
    EXPECT_EQ(ours->view(*inside).size(), 8u);
    const Address base = 0x7f0000000000;
    const Memory memory(Format{}, PeWriter::mapped(portable, base));
    const std::optional<PeImage> mapped = PeImage::at(memory, base, true);
    ASSERT_TRUE(mapped && mapped->portable_code_view() && mapped->embedded_pdb());
    EXPECT_EQ(mapped->embedded_pdb()->address, base + PeWriter::constant_pointer);
  }
}

} // namespace
} // namespace dnheap::test
