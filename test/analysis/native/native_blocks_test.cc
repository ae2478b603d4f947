// Which block contains an address, against a search through all of them.
#include "analysis/native/native_blocks.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

u32 by_search(const NativeBlocks &blocks, Address address) {
  for (u32 i = 0; i < blocks.size(); ++i)
    if (blocks[i].start <= address && address < blocks[i].end)
      return i;
  return NativeBlocks::none;
}

TEST(NativeBlocks, AreFoundByAnyAddressInside) {
  for (u64 seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<MallocBlock> written;
    for (Address base : {Address(0x555500000000), Address(0x7f0000000000), Address(0x7ffffff00000)}) {
      Address at = base;
      for (u64 i = random() % 50; i; --i) {
        at += 16 * (random() % 5) + (random() % 8 == 0 ? random() % (1 << 26) : 0);
        const u64 size = 24 + 16 * (random() % 8 == 0 ? random() % (1 << 20) : random() % 10);
        written.push_back({at, at + size});
        at += size;
      }
    }
    std::shuffle(written.begin(), written.end(), random);
    const NativeBlocks blocks(written);
    ASSERT_EQ(blocks.size(), written.size());
    for (u32 i = 0; i < blocks.size(); ++i)
      for (Address at : {blocks[i].start, blocks[i].start - 1, blocks[i].end, blocks[i].end - 1,
                         blocks[i].start + random() % (blocks[i].end - blocks[i].start)})
        EXPECT_EQ(blocks.find(at), by_search(blocks, at)) << std::hex << at;
    for (int i = 0; i < 1000; ++i) {
      const Address at = 0x7f0000000000 + random() % (1 << 27);
      EXPECT_EQ(blocks.find(at), by_search(blocks, at)) << std::hex << at;
    }
    EXPECT_EQ(blocks.find(0), NativeBlocks::none);
    EXPECT_EQ(blocks.find(~Address{0}), NativeBlocks::none);
  }
}

TEST(NativeBlocks, OfThoseThatOverlapTheFirstCounts) {
  const NativeBlocks blocks({{0x1000, 0x2000}, {0x1800, 0x2800}, {0x2000, 0x2100}, {0x3000, 0x3000}});
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks.find(0x1fff), 0u);
  EXPECT_EQ(blocks.find(0x2000), 1u);
  EXPECT_EQ(blocks.find(0x2400), NativeBlocks::none);
  EXPECT_EQ(NativeBlocks(std::vector<MallocBlock>()).find(0x1000), NativeBlocks::none);
}

// The chunk after a block begins in the block's last word.
TEST(NativeBlocks, TheLastWordMayBelongToMalloc) {
  const NativeBlocks blocks({{0x1010, 0x1028}, {0x2010, 0x2048}}, 8);
  EXPECT_FALSE(blocks.is_in_tail(blocks.find(0x1010), 0x1010));
  EXPECT_FALSE(blocks.is_in_tail(blocks.find(0x101f), 0x101f));
  EXPECT_TRUE(blocks.is_in_tail(blocks.find(0x1020), 0x1020));
  EXPECT_TRUE(blocks.is_in_tail(blocks.find(0x2040), 0x2040));
  EXPECT_FALSE(NativeBlocks({{0x1010, 0x1028}}).is_in_tail(0, 0x1027));
}

} // namespace
} // namespace dnheap::test
