#include "dump/modules.h"
#include "support/elf_writer.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

using test::ElfLibraryWriter;

// "start-end@offset" of each extent, modules apart by " | ".
std::string describe(const std::vector<Module> &modules) {
  std::string out;
  for (const Module &module : modules) {
    out += out.empty() ? "" : " | ";
    out += module.path;
    for (const Extent &extent : module.extents) {
      char text[64];
      std::snprintf(text, sizeof text, " %llx-%llx@%llx", static_cast<unsigned long long>(extent.start),
                    static_cast<unsigned long long>(extent.end), static_cast<unsigned long long>(extent.file_offset));
      out += text;
    }
  }
  return out;
}

TEST(Modules, AnElfImageIsOneModuleEvenWhereItsFirstPageShowsTwice) {
  ElfLibraryWriter writer{.format = {8, ByteOrder::little}};
  writer.writable.resize(64);
  std::vector<std::byte> file = writer.write();
  Memory memory(writer.format, {{0x100000, file}, {0x400000, file}});
  // A hole with another mapping in it, protection changes, the start of the file again; then a second copy.
  std::vector<Module> modules = group_into_modules({{"a.so", {0x100000, 0x101000, 0}},
                                                    {"a.so", {0x101000, 0x102000, 0x1000}},
                                                    {"other", {0x180000, 0x181000, 0x7000}},
                                                    {"a.so", {0x200000, 0x201000, 0}},
                                                    {"a.so", {0x300000, 0x301000, 0x2000}},
                                                    {"a.so", {0x400000, 0x401000, 0}}},
                                                   memory);
  EXPECT_EQ(describe(modules), "a.so 100000-101000@0 101000-102000@1000 200000-201000@0 | other 180000-181000@7000 | "
                               "a.so 300000-301000@2000 | a.so 400000-401000@0");
  EXPECT_EQ(modules[0].base, 0x100000u);
  EXPECT_EQ(modules[0].end(), 0x201000u);
}

// Enough of a PE header to have sections: .text at RVA 0x10400 shows file offset 0x400, .data at 0x31000 offset 0x2000.
std::vector<std::byte> pe_header() {
  test::FormatWriter out({8, ByteOrder::little});
  out.fill_to(0x400);
  out.put_at(0, 0x5a4d, 2);
  out.put_at(60, 0x80, 4);
  out.put_at(0x80, 0x4550, 4);
  out.put_at(0x86, 2, 2);
  out.put_at(0x94, 112, 2);
  out.put_at(0x98, 0x20b, 2);
  out.put_at(0x98 + 56, 0x40000, 4);
  u64 sections = 0x98 + 112;
  for (auto [index, rva, offset] : {std::array<u64, 3>{0, 0x10400, 0x400}, {1, 0x31000, 0x2000}}) {
    out.put_at(sections + index * 40 + 12, rva, 4);
    out.put_at(sections + index * 40 + 20, offset, 4);
  }
  return out.bytes();
}

// The same assembly flat (as the file is) and mapped section by section, as every managed one is.
const std::vector<MappedExtent> assembly = {{"x.dll", {0x100000, 0x104000, 0}},
                                            {"x.dll", {0x200000, 0x201000, 0}},
                                            {"x.dll", {0x210000, 0x213000, 0}},
                                            {"x.dll", {0x231000, 0x232000, 0x2000}},
                                            {"x.dll", {0x300000, 0x304000, 0}}};
constexpr const char *assembly_modules = "x.dll 100000-104000@0 | x.dll 200000-201000@0 210000-213000@0 "
                                         "231000-232000@2000 | x.dll 300000-304000@0";

TEST(Modules, AnAssemblyMappedFlatAndBySectionsIsTwoModules) {
  std::vector<std::byte> header = pe_header();
  Memory memory({}, {{0x100000, header}, {0x200000, header}, {0x300000, header}});
  EXPECT_EQ(describe(group_into_modules(assembly, memory)), assembly_modules);
}

TEST(Modules, TheSameWithoutHeadersInTheDump) {
  EXPECT_EQ(describe(group_into_modules(assembly, Memory())), assembly_modules);
}

TEST(Modules, WindowsIntoADataFileAreModulesOfTheirOwn) {
  EXPECT_EQ(describe(group_into_modules({{"db", {0x9000000, 0x9001000, 0x5000}},
                                         {"db", {0x1000000, 0x1001000, 0x1000}},
                                         {"db", {0x1001000, 0x1002000, 0x2000}},
                                         {"db", {0x1003000, 0x1004000, 0x4000}}},
                                        Memory())),
            "db 1000000-1001000@1000 1001000-1002000@2000 | db 1003000-1004000@4000 | db 9000000-9001000@5000");
}

// Any number of files can be said to begin with the same image: no header is looked at forever.
TEST(Modules, ManyWithTheSameHeader) {
  ElfLibraryWriter writer{.format = {8, ByteOrder::little}};
  writer.writable.resize(64);
  std::vector<std::byte> file = writer.write();
  Memory memory({8, ByteOrder::little}, {{0x10000, file}});
  std::vector<std::string> paths;
  for (int i = 0; i < 300000; ++i)
    paths.push_back("/lib/" + std::to_string(i));
  std::vector<MappedExtent> files;
  for (const std::string &path : paths)
    files.push_back({path, {0x10000, 0x11000, 0}});
  for (const std::string &path : paths) // beyond a hole that only the header tells to be one image's
    files.push_back({path, {0x12000, 0x13000, 0x1000}});
  std::vector<Module> modules = group_into_modules(files, memory);
  ASSERT_GE(modules.size(), paths.size());
  EXPECT_EQ(modules[0].extents.size(), 2u);
}

} // namespace
} // namespace dnheap
