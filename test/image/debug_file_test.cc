#include "image/debug_file.h"
#include "support/debug_file_writer.h"
#include "support/dwarf_writer.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 bias = 0x10000;

TEST(DebugFile, SymbolsAndFunctionsAtAddressesOfTheProcess) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    const std::vector<std::byte> bytes =
        DebugFileWriter{.format = format, .symbols = {{"data", 0x1000}, {"main", 0x2000, 1, 16, 2}}}.write();
    const DebugFile file(bytes, bias, nullptr);
    std::vector<std::pair<Address, std::string>> found;
    file.for_each_symbol([&](Address at, std::string_view name) { found.emplace_back(at, name); });
    EXPECT_EQ(found, (std::vector<std::pair<Address, std::string>>{{0x11000, "data"}, {0x12000, "main"}}));
    ASSERT_TRUE(file.function_at(0x1200f));
    EXPECT_EQ(file.function_at(0x1200f)->name, "main");
    EXPECT_EQ(file.function_at(0x1200f)->start, 0x12000u);
    EXPECT_FALSE(file.function_at(0x12010));
    EXPECT_FALSE(file.function_at(0x2008));
  }
}

TEST(DebugFile, EntriesOfOneCompiler) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    DwarfWriter out({format});
    out.begin_unit("Other");
    out.base_type("char", 8, 1);
    out.end_unit();
    out.begin_unit("NetRuntime");
    const u64 number = out.base_type("int", 5, 4);
    const std::vector<u64> node = out.class_type("Node", 24, 0, {{"_count", number, 8}}, {{"s_all", number}});
    out.place(node[1], 0x800, 16);
    out.end_unit();
    auto bytes = std::make_shared<std::vector<std::byte>>(DebugFileWriter{
        .format = format,
        .more = {{".debug_info", out.info()},
                 {".debug_abbrev", out.abbrev()},
                 {".debug_str", out.strings()}}}.write());
    using Kind = DebugEntry::Kind;
    std::vector<DebugEntry> found;
    const auto storage = DebugFile(*bytes, bias, bytes).for_each_entry("NetRuntime", [&](const DebugEntry &entry) {
      if (entry.kind != Kind::other)
        found.push_back(entry);
    });
    EXPECT_EQ(storage.front(), bytes);
    auto one = [&](Kind kind) {
      const auto at = std::find_if(found.begin(), found.end(), [&](const DebugEntry &e) { return e.kind == kind; });
      return at == found.end() ? DebugEntry() : *at;
    };
    EXPECT_EQ(one(Kind::base_type).name, "int");
    EXPECT_EQ(one(Kind::base_type).byte_size, 4u);
    EXPECT_EQ(one(Kind::class_type).at, node[0]);
    EXPECT_EQ(one(Kind::member).name, "_count");
    EXPECT_EQ(one(Kind::member).type, number);
    EXPECT_EQ(one(Kind::member).member_offset, 8u);
    const DebugEntry variable = one(Kind::variable);
    EXPECT_EQ(variable.specification, node[1]);
    ASSERT_TRUE(variable.place);
    EXPECT_EQ(variable.place->address, 0x800 + bias);
    EXPECT_EQ(variable.place->offset, 16u);
    EXPECT_TRUE(variable.place->in_object);
  }
}

TEST(DebugFile, SectionsKeepTheirBytes) {
  auto bytes = std::make_shared<std::vector<std::byte>>(
      DebugFileWriter{.format = {}, .more = {{".debug_frame", std::vector<std::byte>(3, std::byte{7})}}}.write());
  const DebugFile::Content found = DebugFile(*bytes, 0, bytes).section(".debug_frame");
  EXPECT_EQ(found.bytes.size(), 3u);
  EXPECT_EQ(found.storage, bytes);
  EXPECT_TRUE(DebugFile(*bytes, 0, bytes).section(".debug_info").bytes.empty());
  EXPECT_TRUE(DebugFile().empty());
  EXPECT_TRUE(DebugFile().section(".debug_frame").bytes.empty());
}

} // namespace
} // namespace dnheap::test
