#include "image/elf_sections.h"
#include "support/debug_file_writer.h"

#include <gtest/gtest.h>

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
