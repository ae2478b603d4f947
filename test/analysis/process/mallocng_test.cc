// musl's malloc, laid out by its sources: groups in mappings of their own and in slots of others, blocks by themselves;
// and records that lie.
#include "analysis/process/mallocng.h"

#include <cstring>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 page = 4096, secret = 0x5ec2e7000000001, record_size = 40;

// Two areas of records and three pages for groups, all of it one mapping; the kernel's bytes elsewhere.
class Mallocng {
public:
  static constexpr Address base = 0x10000, second_area = base + page, groups = base + 2 * page, random = 0x900000;

  Mallocng() : bytes_(8 * page), kernel_(page) {
    area(base, second_area);
    area(second_area, 0);
    std::memcpy(&kernel_[8], &secret, sizeof secret);
  }

  template <class Word> void put(Address at, Word word) { std::memcpy(&bytes_[at - base], &word, sizeof word); }
  void area(Address at, Address next) {
    put(at, secret);
    put(at + 8, next);
    put(at + 16, u32{101});
  }
  // `number`: of the record.
  Address group(u32 number, Address start, u32 free_slots, u64 last, u64 size_class, u64 pages) {
    const Address record = base + 24 + number * record_size;
    put(record + 16, start);
    put(record + 24, free_slots & 0xffff); // some were freed, some never used
    put(record + 28, free_slots & 0xffff0000);
    put(record + 32, last | u64{1} << 5 | size_class << 6 | pages << 12);
    put(start, record);
    return record;
  }

  std::optional<MallocArenas> find(const std::string &file = "/lib/ld-musl-x86_64.so.1") {
    Target target;
    target.os = OperatingSystem::linux_os;
    target.auxv[25] = random;
    Module musl;
    musl.path = file;
    target.modules = {musl};
    target.memory = Memory(Format{}, {{base, Bytes(bytes_)}, {random, Bytes(kernel_)}});
    target.mappings = {{.start = base,
                        .end = base + bytes_.size(),
                        .stored_end = base + bytes_.size(),
                        .readable = true,
                        .writable = true}};
    return find_mallocng(target, 100);
  }

private:
  std::vector<std::byte> bytes_, kernel_;
};

struct Sums {
  u64 bytes = 0, in_use = 0, free = 0, blocks = 0;
  bool operator==(const Sums &) const = default;
};
Sums sums(const MallocArenas &found) {
  Sums out;
  for (const MallocHeap &heap : found.heaps) {
    out.bytes += heap.end - heap.start;
    out.in_use += heap.in_use;
    out.free += heap.free;
    out.blocks += heap.chunks;
    EXPECT_EQ(heap.in_use + heap.free, heap.end - heap.start);
  }
  return out;
}

TEST(Mallocng, GroupsInGroupsAndBlocksByThemselves) {
  Mallocng malloc;
  // A page of 8 slots of 31 units; the second is free, the third holds a group of 4 slots of 4 units, two of them free.
  malloc.group(0, malloc.groups, 0b10, 7, 15, 1);
  const Address third = malloc.groups + 16 + 2 * 496;
  malloc.put(third - 3, u8{6 << 5 | 2});
  malloc.group(1, third, 0b1100, 3, 3, 0);
  malloc.group(100, malloc.groups + page, 0, 0, 63, 2); // a block of two pages
  const std::optional<MallocArenas> found = malloc.find();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->blocks.size(), 1u);
  EXPECT_EQ(found->blocks[0].start, malloc.groups + page);
  EXPECT_EQ(found->blocks[0].end, malloc.groups + 3 * page);
  // With the two areas.
  EXPECT_EQ(sums(*found), (Sums{3 * page, 3 * page - 496 - 2 * 64, 496 + 2 * 64, 6 + 2}));
  EXPECT_EQ(found->arenas.size(), 1u);
}

// Slots begin further behind from time to time, so that old pointers into them are noticed.
TEST(Mallocng, AGroupThatBeginsFurtherBehind) {
  Mallocng malloc;
  malloc.group(0, malloc.groups, 0, 7, 15, 1);
  const Address third = malloc.groups + 16 + 2 * 496;
  malloc.put(third - 3, u8{7 << 5});
  malloc.put(third - 2, u16{2});
  malloc.put(third + 32 - 3, u8{6 << 5 | 2});
  malloc.group(1, third + 32, 0, 3, 3, 0);
  const std::optional<MallocArenas> found = malloc.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(sums(*found).blocks, 7u + 4u);
}

// A block has the size that was asked for: its slot without the header of the next one, and without the rest, whose
// size is in its own header or, from 5 bytes on, before its end.
TEST(Mallocng, BlocksHaveTheSizeThatWasAskedFor) {
  Mallocng malloc;
  malloc.group(0, malloc.groups, 0b11111010, 7, 15, 1); // two of 8 slots of 496 bytes
  const Address first = malloc.groups + 16, third = first + 2 * 496;
  malloc.put(first - 3, u8{3 << 5});
  malloc.put(third - 3, u8{7 << 5}); // begins 32 bytes later
  malloc.put(third - 2, u16{2});
  malloc.put(third + 32 - 3, u8{5 << 5 | 2});
  malloc.put(third + 496 - 8, u32{100});
  malloc.group(100, malloc.groups + page, 0, 0, 63, 2);
  malloc.put(malloc.groups + page + 16 - 3, u8{5 << 5});
  malloc.put(malloc.groups + 3 * page - 8, u32{1000});
  const std::optional<MallocArenas> found = malloc.find();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->in_use.size(), 3u);
  EXPECT_EQ(found->in_use[0].start, first);
  EXPECT_EQ(found->in_use[0].end, first + 496 - 4 - 3);
  EXPECT_EQ(found->in_use[1].start, third + 32);
  EXPECT_EQ(found->in_use[1].end, third + 496 - 4 - 100);
  EXPECT_EQ(found->in_use[2].start, malloc.groups + page + 16);
  EXPECT_EQ(found->in_use[2].end, malloc.groups + 3 * page - 4 - 1000);
}

TEST(Mallocng, RecordsThatLieAreLeftOut) {
  Mallocng malloc;
  malloc.group(0, malloc.groups, 0, 7, 15, 1);
  const Sums sound = sums(malloc.find().value());
  malloc.group(1, malloc.groups + page, 0, 7, 50, 1);                  // no such class
  malloc.group(2, malloc.groups + page, 0, 7, 15, (u64{1} << 52) - 1); // larger than any memory
  malloc.put(malloc.groups + page, malloc.base);                       // leads to another record
  malloc.group(3, malloc.groups + 64, 0, 31, 47, 1);                   // inside of the first, and far longer than it
  malloc.put(malloc.second_area + 8, Mallocng::base);                  // the areas are a ring
  const std::optional<MallocArenas> found = malloc.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(sums(*found).bytes, sound.bytes);
  EXPECT_LE(sums(*found).blocks, sound.blocks + 1);
}

TEST(Mallocng, WithoutAreasThereIsNone) {
  Mallocng malloc;
  EXPECT_TRUE(malloc.find());
  EXPECT_FALSE(malloc.find("/lib/libc.so.6"));
  for (Address at : {Mallocng::base, Mallocng::second_area})
    malloc.put(at + 16, u32{100});
  EXPECT_FALSE(malloc.find());
  Target target;
  target.os = OperatingSystem::linux_os;
  EXPECT_FALSE(find_mallocng(target));
}

} // namespace
} // namespace dnheap::test
