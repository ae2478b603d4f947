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
  const u32 string = native_type_hash(named("System", {"String"}), NativeHashing::whole),
            number = native_type_hash(named("System", {"Int32"}), NativeHashing::whole);
  EXPECT_EQ(string, 0xb74f3361u);
  EXPECT_EQ(number, 0xbd7c8cb2u);
  EXPECT_EQ(native_array_hash(string, 2, false, NativeHashing::whole), 0x2dde75efu);
  EXPECT_EQ(native_array_hash(number, 2, false, NativeHashing::whole), 0x7fd790c9u);
  EXPECT_EQ(native_array_hash(string, 3, false, NativeHashing::whole), 0x7a297d7eu);
  // A vector counts as an instance of System.Array`1, whose hash the runtime's source has as a constant.
  EXPECT_EQ(native_type_hash(named("System", {"Array`1"}), NativeHashing::whole), 0xd5313557u);
  EXPECT_EQ(native_array_hash(string, 1, true, NativeHashing::whole), native_instance_hash(0xd5313557, {&string, 1}));
  EXPECT_NE(native_array_hash(string, 1, true, NativeHashing::whole),
            native_array_hash(string, 1, false, NativeHashing::whole));
  // UTF-16 units are hashed: two here.
  EXPECT_NE(native_type_hash(named("", {"\xf0\x9f\x98\x80"}), NativeHashing::whole),
            native_type_hash(named("", {"\xef\xbf\xbd"}), NativeHashing::whole));
}

// Values that a .NET 11 program has: namespace and name are hashed apart.
TEST(NativeFormat, HashesOfRealTypesByParts) {
  constexpr NativeHashing parts = NativeHashing::parts;
  const u32 string = native_type_hash(named("System", {"String"}), parts),
            number = native_type_hash(named("System", {"Int32"}), parts);
  EXPECT_EQ(string, 0x03ebebe0u);
  EXPECT_EQ(number, 0x01abfd3fu);
  EXPECT_EQ(native_type_hash(named("", {"<Module>"}), parts), 0x766d3238u);
  EXPECT_EQ(native_type_hash(named("Held", {"Program", "<>c"}), parts), 0x6d9eaa0au);
  EXPECT_EQ(native_array_hash(string, 2, false, parts), 0xca472039u);
  EXPECT_EQ(native_array_hash(number, 3, false, parts), 0xc3d80ffbu);
  // A vector has rank 1.
  EXPECT_EQ(native_array_hash(7, 1, true, parts), native_array_hash(7, 1, true, NativeHashing::whole));
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

// Methods as stack traces name them: what is not said again is as in the one before.
TEST(NativeFormat, MethodsOfStackTraces) {
  std::vector<u8> table = {4, 0, 0, 0};
  auto add = [&](std::initializer_list<u8> bytes) { table.insert(table.end(), bytes); };
  add({0x17, 12, 0, 0, 0x3a, 5 << 1, 9 << 1, 0x10, 0, 0, 0}); // hidden; all but a generic signature; 16 bytes on
  add({0x02, 6 << 1, 0xfe, 0xff, 0xff, 0xff});                // another name; before the table
  add({0x08, 1 << 1, 2 << 1, 0, 1, 0, 0});                    // two numbers of a signature
  add({0x00, 4, 0, 0, 0});
  const std::vector<NativeMethod> methods = native_methods(bytes_of(table));
  ASSERT_EQ(methods.size(), 4u);
  EXPECT_EQ(methods[0].code, 11 + 16);
  EXPECT_EQ(methods[0].owner, 0x3a00000cu);
  EXPECT_EQ(methods[0].name, 5u);
  EXPECT_EQ(methods[1].code, 17 - 2);
  EXPECT_EQ(methods[1].owner, 0x3a00000cu);
  EXPECT_EQ(methods[1].name, 6u);
  EXPECT_EQ(methods[2].code, 24 + 256);
  EXPECT_EQ(methods[3].code, 29 + 4);
  EXPECT_EQ(methods[3].name, 6u);
  for (u64 size = 0; size < table.size(); ++size)
    EXPECT_TRUE(native_methods(bytes_of(table).first(size)).empty()) << size;
  std::vector<u8> other = table;
  other[0] = 5; // not as many as it says
  EXPECT_TRUE(native_methods(bytes_of(other)).empty());
  other = table;
  other[4] |= 0x20; // a command that is not known
  EXPECT_TRUE(native_methods(bytes_of(other)).empty());
}

TEST(NativeFormat, MethodsOfReflection) {
  // One bucket of three entries, each told by a hash and a distance.
  const std::vector<u8> table = {0,       2,      8,       0x11,   5 << 1, 0x22,   7 << 1,
                                 0x33,    8 << 1, 36 << 1, 7 << 1, 3 << 1, 2 << 1, // 9: all is told
                                 4 << 1,  7 << 1, 3 << 1,                          // 13: no code
                                 32 << 1, 7 << 1, 3 << 1,  2 << 1};                // 16: a name in place of a record
  const std::vector<NativeInvokeEntry> entries = native_invoke_entries(bytes_of(table));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].method, 7u);
  EXPECT_EQ(entries[0].owner, 3u);
  EXPECT_EQ(entries[0].entry_point, 2u);
  for (u64 size = 0; size < 13; ++size)
    EXPECT_TRUE(native_invoke_entries(bytes_of(table).first(size)).empty()) << size;
}

// Behind `small`: 19 a reference to "Node" in the root namespace, 21 one inside that, 23 an instance of it, 25 a
// specification of that, 27 a method. Kinds in the lowest eight bits are numbers of two bytes and more.
TEST(NativeFormat, OwnersOfMethods) {
  std::vector<u8> bytes = small;
  auto handle = [&](u32 kind, u32 offset) { // of two bytes, where its kind takes seven bits
    const u32 value = offset << 7 | kind;
    bytes.push_back(static_cast<u8>(value << 2 | 1));
    bytes.push_back(static_cast<u8>(value >> 6));
  };
  bytes[9] = 0;    // the root namespace: no parent
  bytes[10] = 0;   // no name
  handle(0x30, 9); // 19
  bytes.push_back(4 << 1);
  handle(0x3d, 19); // 22
  bytes.push_back(4 << 1);
  handle(0x3d, 22);              // 25: an instance
  handle(0x3c, 25);              // 27: a specification
  for (u8 byte : {2, 2, 4 << 1}) // 29: a method
    bytes.push_back(byte);
  const NativeMetadata metadata(bytes_of(bytes), 7);
  auto name = [&](u32 kind, u32 offset) {
    const std::optional<NativeTypeName> found = metadata.token_name(kind << 25 | offset);
    return found ? found->format({}) : "";
  };
  EXPECT_EQ(name(0x3a, 12), "Node");
  EXPECT_EQ(name(0x3d, 19), "Node");
  EXPECT_EQ(name(0x3d, 22), "Node+Node");
  EXPECT_EQ(name(0x3c, 25), "Node+Node");
  EXPECT_EQ(name(0x3e, 27), "Node+Node");
  EXPECT_EQ(name(0x3e, 19), ""); // leads to a namespace
  EXPECT_EQ(name(0x28, 12), "");
  EXPECT_EQ(name(0x3d, 0), "");
  EXPECT_EQ(name(0x3e, 200), "");
  EXPECT_EQ(metadata.method_name(29), "Node");
  EXPECT_FALSE(metadata.method_name(0));
  EXPECT_FALSE(metadata.method_name(200));
  std::vector<u8> circle = bytes;
  circle.resize(19);
  circle.push_back(static_cast<u8>((19 << 7 | 0x3d) << 2 | 1));
  circle.push_back(static_cast<u8>((19 << 7 | 0x3d) >> 6));
  circle.push_back(4 << 1);
  EXPECT_FALSE(NativeMetadata(bytes_of(circle), 7).token_name(0x3du << 25 | 19));
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
