// Public symbols of a .pdb: which function an address is in, and files that are cut off, damaged, or of another kind.
#include "image/pdb_publics.h"
#include "support/pdb_writer.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

PdbWriter pdb_of_a_shop() {
  PdbWriter out;
  out.age = 3;
  out.sections = {{0x1000, 0x800}, {0x2000, 0x1000, false}, {0x4000, 0x100}};
  out.symbols = {{3, 0, "behind"},           {1, 0x200, "?add@Cart@Shop@@QEAAHH@Z"},
                 {1, 0x40, "start"},         {2, 0, "a variable"},
                 {1, 0x200, "?same@@YAXXZ"}, {4, 0, "nowhere"},
                 {1, 0x900, "outside"},      {0, 0, "none"}};
  return out;
}

std::optional<PdbPublics> read(const std::vector<std::byte> &file) {
  std::string why;
  return PdbPublics::read(file, why);
}

std::string function_at(const PdbPublics &publics, u32 rva) {
  const std::optional<PdbPublics::Function> found = publics.find(rva);
  return found ? std::string(found->name) + "+" + std::to_string(rva - found->start) : "";
}

TEST(PdbPublics, TheFunctionOfAnAddress) {
  for (u32 block_size : {512u, 1024u, 4096u, 65536u}) {
    PdbWriter writer = pdb_of_a_shop();
    writer.block_size = block_size;
    for (u32 i = 0; i < 100; ++i) // longer than one block
      writer.symbols.push_back({1, 0x400 + i, "f" + std::to_string(i)});
    std::string why;
    const std::optional<PdbPublics> publics = PdbPublics::read(writer.write(), why);
    ASSERT_TRUE(publics) << why;
    EXPECT_EQ(publics->age(), 3u);
    EXPECT_EQ(publics->guid()[0], 1);
    EXPECT_EQ(publics->guid()[15], 16);
    EXPECT_EQ(function_at(*publics, 0x1040), "start+0");
    EXPECT_EQ(function_at(*publics, 0x11ff), "start+447");
    EXPECT_EQ(function_at(*publics, 0x1200), "?add@Cart@Shop@@QEAAHH@Z+0") << "the first of its names";
    EXPECT_EQ(function_at(*publics, 0x1463), "f99+0");
    EXPECT_EQ(function_at(*publics, 0x17ff), "f99+924");
    EXPECT_EQ(function_at(*publics, 0x4010), "behind+16");
    for (u32 rva : {0u, 0x1000u, 0x103fu, 0x1800u, 0x2000u, 0x3fffu, 0x4100u, ~0u})
      EXPECT_EQ(function_at(*publics, rva), "") << rva;
  }
}

TEST(PdbPublics, WhatIsRefusedAndWhy) {
  std::string why;
  EXPECT_FALSE(PdbPublics::read({}, why));
  EXPECT_EQ(why, "it is no .pdb of native code");
  PdbWriter rearranged = pdb_of_a_shop();
  rearranged.rearranged = true;
  EXPECT_FALSE(PdbPublics::read(rearranged.write(), why));
  EXPECT_NE(why.find("rearranged"), std::string::npos) << why;
  PdbWriter without_sections = pdb_of_a_shop();
  without_sections.sections.clear();
  EXPECT_FALSE(PdbPublics::read(without_sections.write(), why));
  EXPECT_EQ(why, "the headers of the image's sections are not in it");
  for (auto [at, value] : {std::pair<u64, u32>{32, 0}, {32, 300}, {32, 1u << 31}, {44, ~0u}, {52, ~0u}}) {
    std::vector<std::byte> file = pdb_of_a_shop().write();
    std::memcpy(file.data() + at, &value, 4);
    EXPECT_FALSE(PdbPublics::read(file, why)) << at;
    EXPECT_EQ(why, "its list of streams leads out of the file");
  }
}

TEST(PdbPublics, FilesThatAreCutOff) {
  const std::vector<std::byte> file = pdb_of_a_shop().write();
  for (u64 size = 0; size + 512 < file.size(); ++size) // the list of the directory's blocks lies last
    EXPECT_FALSE(read({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
}

TEST(PdbPublics, DamagedFilesEnd) {
  std::mt19937_64 random(11);
  const std::vector<std::byte> file = pdb_of_a_shop().write();
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> damaged = file;
    for (int i = 0; i < 4; ++i)
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    const std::optional<PdbPublics> publics = read(damaged);
    for (u32 rva : {0u, 0x1040u, 0x1300u, 0x4010u, ~0u}) {
      const std::optional<PdbPublics::Function> found = publics ? publics->find(rva) : std::nullopt;
      EXPECT_LE(found ? found->start : 0, rva);
    }
  }
}

} // namespace
} // namespace dnheap::test
