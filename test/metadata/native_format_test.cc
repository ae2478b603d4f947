// Numbers, names and hashes of NativeFormat: against values seen in real programs, and against damage.
#include "metadata/native_format.h"
#include "support/elf_writer.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

Bytes bytes_of(const std::vector<u8> &bytes) { return std::as_bytes(std::span(bytes)); }

NativeTypeName named(const std::string &name_space, const std::vector<std::string_view> &levels) {
  return {name_space, levels};
}

// Values that .NET 8, 9 and 10 programs have in their MethodTables.
TEST(NativeFormat, HashesOfRealTypes) {
  const u32 string = native_type_hash(named("System", {"String"})),
            number = native_type_hash(named("System", {"Int32"}));
  EXPECT_EQ(string, 0xb74f3361u);
  EXPECT_EQ(number, 0xbd7c8cb2u);
  EXPECT_EQ(native_array_hash(string, 2, false), 0x2dde75efu);
  EXPECT_EQ(native_array_hash(number, 2, false), 0x7fd790c9u);
  EXPECT_EQ(native_array_hash(string, 3, false), 0x7a297d7eu);
  // A vector counts as an instance of System.Array`1, whose hash the runtime's source has as a constant.
  EXPECT_EQ(native_type_hash(named("System", {"Array`1"})), 0xd5313557u);
  EXPECT_EQ(native_array_hash(string, 1, true), native_instance_hash(0xd5313557, {&string, 1}));
  EXPECT_NE(native_array_hash(string, 1, true), native_array_hash(string, 1, false));
  // UTF-16 units are hashed: two here.
  EXPECT_NE(native_type_hash(named("", {"\xf0\x9f\x98\x80"})), native_type_hash(named("", {"\xef\xbf\xbd"})));
}

TEST(NativeFormat, Names) {
  EXPECT_EQ(named("Shop", {"Box`1", "Item"}).format(std::vector<std::string>{"System.Int32"}),
            "Shop.Box<System.Int32>+Item");
  EXPECT_EQ(named("", {"Odd,One"}).format({}), "Odd\\,One");
}

// Four numbers of one to five bytes, as an index and a handle each.
TEST(NativeFormat, NumbersOfEveryLength) {
  // One bucket, offsets of one byte; two entries, the second one found by a distance of five bytes.
  std::vector<u8> table = {0, 2, 10};
  auto add = [&](std::initializer_list<u8> bytes) { table.insert(table.end(), bytes); };
  add({0x11, 7 << 1});                 // hash, distance
  add({0x22, 0x0f, 8, 0, 0, 0});       // hash, distance
  add({0x7f << 1});                    // 127
  add({0x01 | 2 << 2, 0x80});          // 2 | 0x80 << 6
  add({0x0f, 0x78, 0x56, 0x34, 0x12}); // 0x12345678
  add({0x03 | 1 << 3, 2, 3});          // 1 | 2 << 5 | 3 << 13
  std::vector<NativeMapEntry> entries = native_map_entries(bytes_of(table));
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].index, 127u);
  EXPECT_EQ(entries[0].handle, 2u | 0x80u << 6);
  EXPECT_EQ(entries[1].index, 0x12345678u);
  EXPECT_EQ(entries[1].handle, 1u | 2u << 5 | 3u << 13);
}

TEST(NativeFormat, TablesThatLie) {
  EXPECT_TRUE(native_map_entries({}).empty());
  EXPECT_TRUE(native_map_entries(bytes_of({3, 0, 0})).empty());            // offsets of eight bytes
  EXPECT_TRUE(native_map_entries(bytes_of({31 << 2, 0, 0})).empty());      // 2^31 buckets
  EXPECT_TRUE(native_map_entries(bytes_of({0, 2, 200, 1, 0x7f})).empty()); // an entry before the table
  // A list that is its own entry goes on to the end of the bytes, and no further.
  std::vector<u8> endless(400, 0);
  endless[1] = 2;
  endless[2] = 255;
  EXPECT_LE(native_map_entries(bytes_of(endless)).size(), endless.size());
}

// 0xdeaddffd, "Node" at 4, root namespace at 9, a type at 12.
const std::vector<u8> small = {0xfd, 0xdf, 0xad, 0xde, 4 << 1, 'N',    'o', 'd', 'e', 0x01,
                               0,    0,    2,    2,    9 << 1, 4 << 1, 0,   0,   0};

TEST(NativeFormat, TypesThatLie) {
  EXPECT_EQ(NativeMetadata(bytes_of(small), 8).type_name(12)->format({}), "Node");
  std::vector<u8> bytes = small;
  bytes[0] = 0;
  EXPECT_FALSE(NativeMetadata(bytes_of(bytes), 8).type_name(12)) << "no signature";
  for (u64 size = 0; size + 1 < small.size(); ++size)
    EXPECT_FALSE(NativeMetadata(bytes_of(small).first(size), 8).type_name(12)) << size;
  bytes = small;
  bytes[18] = 12 << 1; // nested in itself
  EXPECT_FALSE(NativeMetadata(bytes_of(bytes), 8).type_name(12));
  bytes = small;
  bytes[4] = 100 << 1; // a name that is too long
  EXPECT_FALSE(NativeMetadata(bytes_of(bytes), 8).type_name(12));
  bytes = small;
  bytes[9] = 0x01; // a namespace in itself: handle 9 << 8, two bytes
  bytes[9] = 9 << 1;
  bytes[10] = 4 << 1;
  EXPECT_FALSE(NativeMetadata(bytes_of(bytes), 0).type_name(12));
  EXPECT_FALSE(NativeMetadata(bytes_of(small), 8).type_name(0));
  EXPECT_FALSE(NativeMetadata(bytes_of(small), 8).type_name(~u64{0}));
}

TEST(NativeFormat, DamageIsSurvived) {
  std::mt19937 random(1);
  u64 names = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<u8> bytes = small;
    for (int hits = 0; hits < 3; ++hits)
      bytes[4 + random() % (bytes.size() - 4)] = static_cast<u8>(random());
    names += NativeMetadata(bytes_of(bytes), 8).type_name(random() % bytes.size()).has_value();
    EXPECT_LE(native_map_entries(bytes_of(bytes).subspan(4)).size(), bytes.size());
  }
  EXPECT_GT(names, 0u);
}

} // namespace
} // namespace dnheap::test
