#include "image/elf_sections.h"
#include "support/debug_file_writer.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

namespace dnheap::test {
namespace {

using Symbols = std::vector<std::pair<u64, std::string>>;

Symbols symbols_of(Bytes file) {
  Symbols out;
  for_each_elf_symbol(file, [&](u64 address, std::string_view name) { out.emplace_back(address, name); });
  return out;
}

DebugFileWriter writer(Format format) {
  return {.format = format,
          .build_id = {1, 2, 3, 4},
          .symbols = {{"_ZTV4Node", 0x1000}, {"undefined", 0, 0}, {"main", 0x2000}},
          .debug_link = "shop.dbg"};
}

TEST(ElfSections, FourFormats) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    std::vector<std::byte> file = writer(format).write();
    EXPECT_EQ(elf_section_build_id(file), (std::vector<u8>{1, 2, 3, 4}));
    EXPECT_EQ(symbols_of(file), (Symbols{{0x1000, "_ZTV4Node"}, {0x2000, "main"}}));
    EXPECT_TRUE(as_text(find_elf_section(file, ".gnu_debuglink")).starts_with(std::string_view("shop.dbg\0", 9)));
    EXPECT_TRUE(find_elf_section(file, ".bss").empty()); // it has a size, and no content
    EXPECT_TRUE(find_elf_section(file, ".nothing").empty());
  }
}

TEST(ElfSections, FunctionsByAddress) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    DebugFileWriter of = writer(format);
    of.symbols = {{"data", 0x1010, 1, 0x100, 1},  {"second", 0x2000, 1, 0x20, 2}, {"first", 0x1000, 1, 0x40, 2},
                  {"elsewhere", 0x1000, 0, 0, 2}, {"inner", 0x1010, 1, 8, 2},     {"assembler", 0x3000, 1, 0, 2}};
    const std::vector<std::byte> file = of.write();
    const std::pair<u64, const char *> expected[] = {{0xfff, ""},       {0x1000, "first"},     {0x1012, "inner"},
                                                     {0x1018, "first"}, {0x1040, ""},          {0x201f, "second"},
                                                     {0x2020, ""},      {0x3000, "assembler"}, {0x9000, "assembler"}};
    for (const auto &[address, name] : expected) {
      const std::optional<ElfFunction> found = find_elf_function(file, address);
      EXPECT_EQ(found ? found->name : "", name) << std::hex << address;
    }
    for (u64 cut = 0; cut < file.size(); cut += 7)
      (void)find_elf_function(Bytes(file).first(cut), 0x1012);
  }
}

// musl's memset says no size, and functions behind it are not exported.
TEST(ElfSections, AnExportedFunctionWithoutASizeIsWhereItBegins) {
  for (Format format : all_formats) {
    DebugFileWriter of = writer(format);
    of.exports = true;
    of.symbols = {{"sized", 0x1000, 1, 0x40, 2}, {"memset", 0x2000, 1, 0, 2}};
    const std::vector<std::byte> file = of.write();
    for (const auto &[address, name] :
         {std::pair<u64, const char *>{0x1012, "sized"}, {0x2000, "memset"}, {0x2147, ""}}) {
      const std::optional<ElfFunction> found = find_elf_function(file, address);
      EXPECT_EQ(found ? found->name : "", name) << std::hex << address;
    }
  }
}

std::vector<std::byte> compressed(Format format, u32 type, u64 size, Bytes data) {
  FormatWriter out(format);
  out.word(type);
  if (format.pointer_size == 8)
    out.word(0);
  out.pointer(size);
  out.pointer(1);
  out.append(data);
  return out.bytes();
}

TEST(ElfSections, Compressed) {
  constexpr u32 zlib = 1, zstd = 2;
  std::vector<std::byte> plain(3 << 20); // more than a decoder is given room for at first
  for (u64 i = 0; i < plain.size(); ++i)
    plain[i] = static_cast<std::byte>(i * i >> 8);
  std::vector<std::byte> deflated(compressBound(plain.size())), packed(ZSTD_compressBound(plain.size()));
  uLongf size = deflated.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef *>(deflated.data()), &size, reinterpret_cast<const Bytef *>(plain.data()),
                     plain.size()),
            Z_OK);
  deflated.resize(size);
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  for (Format format : all_formats)
    for (u32 type : {zlib, zstd}) {
      SCOPED_TRACE(name_of(format) + (type == zlib ? " zlib" : " zstd"));
      const std::vector<std::byte> &data = type == zlib ? deflated : packed;
      auto read = [&](u32 said, u64 length, Bytes content, u32 flags = 0x800) {
        DebugFileWriter out = writer(format);
        out.more = {{".debug_info", compressed(format, said, length, content), flags}};
        ElfSectionContent found = read_elf_section(out.write(), ".debug_info");
        return std::vector<std::byte>(found.bytes.begin(), found.bytes.end());
      };
      EXPECT_EQ(read(type, plain.size(), data), plain);
      EXPECT_TRUE(read(type, plain.size() + 1, data).empty()); // it says another length than it has
      EXPECT_TRUE(read(type, ~u64{0}, data).empty());
      EXPECT_TRUE(read(type, 0, data).empty());
      EXPECT_TRUE(read(3, plain.size(), data).empty());
      EXPECT_TRUE(read(type, plain.size(), Bytes(data).first(data.size() / 2)).empty());
      std::vector<std::byte> damaged = data;
      damaged[10] ^= std::byte{0x55};
      damaged[11] ^= std::byte{0x55};
      EXPECT_LE(read(type, plain.size(), damaged).size(), plain.size());
    }
  DebugFileWriter out = writer({});
  out.more = {{".debug_info", plain, 0}, {".short", std::vector<std::byte>(5), 0x800}};
  const std::vector<std::byte> file = out.write();
  EXPECT_EQ(read_elf_section(file, ".debug_info").bytes.size(), plain.size());
  EXPECT_FALSE(read_elf_section(file, ".debug_info").storage);
  EXPECT_TRUE(read_elf_section(file, ".short").bytes.empty());
  EXPECT_TRUE(read_elf_section(file, ".nothing").bytes.empty());
}

TEST(ElfSections, NotAnElfFile) {
  for (std::string_view text : {"", "text", "\177ELF"}) {
    Bytes file = std::as_bytes(std::span(text));
    EXPECT_TRUE(elf_section_build_id(file).empty());
    EXPECT_TRUE(symbols_of(file).empty());
    EXPECT_TRUE(find_elf_section(file, ".symtab").empty());
  }
}

// Cut anywhere, and with any byte changed: whatever is found lies in the file.
TEST(ElfSections, Damaged) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    const std::vector<std::byte> file = writer(format).write();
    for (u64 size = 0; size < file.size(); ++size) {
      std::vector<std::byte> cut(file.begin(), file.begin() + static_cast<i64>(size));
      EXPECT_LE(symbols_of(cut).size(), 2u);
      EXPECT_LE(elf_section_build_id(cut).size(), 4u);
    }
    for (u64 at = 0; at < file.size(); ++at)
      for (u8 value : {0x00, 0x7f, 0xff}) {
        std::vector<std::byte> changed = file;
        changed[at] = std::byte{value};
        EXPECT_LE(symbols_of(changed).size(), 64u);
        EXPECT_LE(elf_section_build_id(changed).size(), file.size());
        EXPECT_LE(find_elf_section(changed, ".gnu_debuglink").size(), file.size());
      }
  }
}

} // namespace
} // namespace dnheap::test
