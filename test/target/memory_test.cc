#include "target/memory.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap {
namespace {

TEST(Memory, FirstRangeWinsWhereRangesOverlap) {
  // Brute-force twin: one map entry per byte.
  std::mt19937 random(1);
  std::vector<std::byte> host(4096);
  for (std::byte &b : host)
    b = static_cast<std::byte>(random());
  for (int round = 0; round < 500; ++round) {
    std::vector<Range> ranges;
    std::map<Address, std::byte> truth;
    int n = static_cast<int>(random() % 12);
    for (int i = 0; i < n; ++i) {
      u64 offset = random() % 4000, size = random() % 90, address = random() % 256;
      ranges.push_back({address, Bytes(host).subspan(offset, size)});
      for (u64 k = 0; k < size; ++k)
        truth.try_emplace(address + k, host[offset + k]);
    }
    Memory memory({}, ranges);
    for (Address a = 0; a < 400; ++a) {
      std::optional<u8> byte = memory.try_load<u8>(a);
      auto it = truth.find(a);
      ASSERT_EQ(byte.has_value(), it != truth.end());
      if (byte) {
        ASSERT_EQ(*byte, static_cast<u8>(it->second));
      }
    }
    for (u64 i = 1; i < memory.ranges().size(); ++i)
      ASSERT_LE(memory.ranges()[i - 1].end(), memory.ranges()[i].address);
    ASSERT_EQ(memory.size(), truth.size());
    Address start = random() % 300, end = start + random() % 200;
    ASSERT_EQ(memory.known_bytes(start, end),
              static_cast<u64>(std::distance(truth.lower_bound(start), truth.lower_bound(end))));
  }
}

TEST(Memory, ReadsAcrossRangesButViewsDoNot) {
  std::vector<std::byte> a(4, std::byte{0x11}), gap(16), b(4, std::byte{0x22});
  Memory memory({8, ByteOrder::little}, {{100, a}, {104, b}});
  EXPECT_TRUE(memory.view(102, 4).empty());
  EXPECT_EQ(memory.try_load<u32>(102), 0x22221111u);
  EXPECT_FALSE(memory.try_load<u64>(102));
  EXPECT_THROW(memory.pointer(102, "X"), Error);
}

TEST(Memory, TagsOfAddressesCountUnlessToldOtherwise) {
  std::vector<std::byte> low(8, std::byte{1}), high(8, std::byte{2});
  Memory memory({}, {{0x1000, low}});
  constexpr Address tag = Address{0xb4} << 56;
  EXPECT_FALSE(memory.find(tag | 0x1000));
  memory.ignore_top_byte();
  memory.lay_under({{0x1008, high}}); // keeps what it was told
  EXPECT_EQ(memory.find(tag | 0x1004), memory.find(0x1004));
  EXPECT_EQ(memory.view(tag | 0x1007, 1).data(), low.data() + 7);
  EXPECT_EQ(memory.view_up_to(tag | 0x1002, 100).size(), 6u);
  EXPECT_EQ(memory.try_load<u16>(tag | 0x1007), u16{0x0201}); // across two ranges
  EXPECT_FALSE(memory.try_load<u8>(tag | 0x1010));
  EXPECT_FALSE(memory.try_load<u8>(tag | 0xfff));
}

TEST(Memory, RangesAtTheEndOfTheAddressSpaceDoNotWrap) {
  std::vector<std::byte> a(64, std::byte{1});
  Memory memory({8, ByteOrder::little}, {{~u64{0} - 15, a}});
  EXPECT_EQ(memory.size(), 15u);
  EXPECT_FALSE(memory.try_load<u8>(0));
  Memory narrow({4, ByteOrder::big}, {{0xfffffff0u, a}});
  EXPECT_EQ(narrow.size(), 15u);
}

TEST(Memory, AdjacentPiecesOfOneFileBecomeOneRange) {
  std::vector<std::byte> file(8192);
  Memory memory({}, {{0x1000, Bytes(file).first(4096)}, {0x2000, Bytes(file).subspan(4096)}});
  EXPECT_EQ(memory.ranges().size(), 1u);
}

TEST(Memory, Utf16) {
  const u8 text[] = {'a', 0, 0xe9, 0, 0x3d, 0xd8, 0x00, 0xde, 0x00, 0xd8};
  EXPECT_EQ(utf16_to_utf8(std::as_bytes(std::span(text)), ByteOrder::little), "a\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
}

TEST(Memory, TakesOutWhatLiesInLostBytes) {
  std::mt19937 random(2);
  std::vector<std::byte> host(512);
  for (int round = 0; round < 500; ++round) {
    std::vector<Range> ranges;
    for (u64 i = random() % 8; i; --i)
      ranges.push_back({random() % 512, Bytes(host).subspan(random() % 448, random() % 64)});
    Memory memory({}, ranges);
    std::vector<LostBytes> lost;
    std::vector<bool> is_lost(host.size());
    for (u64 at = random() % 64; at < 440;) {
      u64 size = 1 + random() % 64;
      lost.push_back({Bytes(host).subspan(at, size), ""});
      std::fill_n(is_lost.begin() + static_cast<i64>(at), size, true);
      at += size + random() % 64;
    }
    std::map<Address, bool> expected; // is it still known?
    for (const Range &range : memory.ranges())
      for (u64 k = 0; k < range.bytes.size(); ++k)
        expected[range.address + k] = !is_lost[static_cast<u64>(&range.bytes[k] - host.data())];
    std::map<Address, u64> taken;
    for (const LostRange &range : memory.take_out(lost))
      for (Address a = range.start; a < range.end; ++a)
        ASSERT_TRUE(taken.emplace(a, range.cause).second);
    for (auto [address, known] : expected) {
      ASSERT_EQ(memory.find(address) != nullptr, known);
      ASSERT_EQ(taken.contains(address), !known);
    }
    ASSERT_EQ(memory.size() + taken.size(), expected.size());
    ASSERT_TRUE(memory.take_out(lost).empty());
  }
}

} // namespace
} // namespace dnheap
