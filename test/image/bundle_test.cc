// The list of files inside a single-file program.
#include "image/bundle.h"
#include "support/bundle_writer.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

std::vector<std::byte> filled(u64 size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

BundleWriter some_bundle(u32 version) {
  BundleWriter out;
  out.program = filled(300, 7);
  out.version = version;
  out.files = {{"app.dll", filled(100, 1)}, {std::string(200, 'd') + "/b.dll", filled(50, 2)}, {"c.dll", filled(9, 3)}};
  out.files[2].uncompressed_size = version == 6 ? 40 : 0;
  return out;
}

TEST(Bundle, ListsItsFiles) {
  for (u32 version : {1u, 2u, 6u}) {
    SCOPED_TRACE(version);
    std::vector<std::byte> file = some_bundle(version).write();
    std::vector<BundledFile> found = read_bundle(file);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].path, "app.dll");
    EXPECT_EQ(found[1].path, std::string(200, 'd') + "/b.dll");
    for (u64 i = 0; i < 3; ++i) {
      EXPECT_EQ(found[i].size, (std::vector<u64>{100, 50, 9})[i]);
      EXPECT_EQ(static_cast<u64>(file.at(found[i].offset)), i + 1);
      EXPECT_EQ(found[i].compressed, version == 6 && i == 2);
    }
  }
}

TEST(Bundle, OtherFilesAreNone) {
  EXPECT_TRUE(read_bundle({}).empty());
  EXPECT_TRUE(read_bundle(filled(1000, 0)).empty());
  EXPECT_TRUE(read_bundle(some_bundle(3).write()).empty()); // no such version
  BundleWriter plain = some_bundle(6);
  plain.list = 0; // the program before it is made one
  EXPECT_TRUE(read_bundle(plain.write()).empty());
  plain.list = ~u64{0};
  EXPECT_TRUE(read_bundle(plain.write()).empty());
}

TEST(Bundle, FilesBeyondTheEnd) {
  std::vector<std::byte> file = some_bundle(6).write();
  for (u64 size = 0; size < file.size(); ++size) // its list is at the end
    EXPECT_TRUE(read_bundle(Bytes(file).first(size)).empty()) << size;
}

TEST(Bundle, RandomDamageDoesNoHarm) {
  std::mt19937_64 random(3);
  const std::vector<std::byte> whole = some_bundle(6).write();
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> file = whole;
    for (int n = 0; n < 3; ++n)
      file[random() % file.size()] = static_cast<std::byte>(random());
    for (const BundledFile &found : read_bundle(file))
      EXPECT_FALSE(found.size && slice(file, found.offset, found.size).empty());
  }
}

} // namespace
} // namespace dnheap::test
