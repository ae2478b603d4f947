// GC info against its twin: whatever a random method keeps alive where, written as a JIT writes it, is read again at
// every offset; not a byte too many is read; and what is no GC info does no harm.
#include "support/gc_info_writer.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr Address place = 0x7000123;

Memory memory_of(Bytes bytes) { return Memory(Format{}, {Range{place, bytes}}); }

struct Written {
  Written(Architecture architecture, u32 version, u64 seed) : random(seed) {
    model = random_gc_info(architecture, version, random);
    bytes = write_gc_info(model, random);
  }
  std::mt19937_64 random;
  GcInfoModel model;
  std::vector<std::byte> bytes;
};

template <class Test> void for_each_written(u64 count, Test test) {
  for (Architecture architecture : {Architecture::x64, Architecture::arm64})
    for (u32 version : {2u, 3u, 4u, 5u})
      for (u64 seed = 0; seed < count; ++seed) {
        SCOPED_TRACE(std::string(name_of(architecture)) + " version " + std::to_string(version) + " seed " +
                     std::to_string(seed));
        Written written(architecture, version, seed);
        test(written);
        if (testing::Test::HasFailure())
          return;
      }
}

TEST(GcInfo, SaysWhatWasWritten) {
  for_each_written(150, [](const Written &w) {
    const Memory memory = memory_of(w.bytes);
    const GcInfo info(memory, place, w.model.encoding(), w.model.version);
    ASSERT_TRUE(info.outcome()) << info.outcome().text();
    EXPECT_EQ(info.code_length(), w.model.length);
    EXPECT_EQ(info.scratch_area(), w.model.scratch_area);
    EXPECT_EQ(info.stack_base_register(), w.model.base);
    std::vector<GcSlot> slots;
    ASSERT_TRUE(info.slots(slots));
    EXPECT_EQ(slots, w.model.slots);
    std::vector<u64> safe_points, expected;
    ASSERT_TRUE(info.safe_points(safe_points));
    for (const auto &[at, live] : w.model.safe_points)
      expected.push_back(at * w.model.unit());
    EXPECT_EQ(safe_points, expected);
    ASSERT_EQ(info.ranges().size(), w.model.ranges.size());
    for (u64 i = 0; i < info.ranges().size(); ++i)
      EXPECT_EQ(info.ranges()[i].second, w.model.ranges[i].second * w.model.unit());
  });
}

TEST(GcInfo, EveryOffsetHasTheSlotsThatLiveThere) {
  for_each_written(60, [](const Written &w) {
    const Memory memory = memory_of(w.bytes);
    const GcInfo info(memory, place, w.model.encoding(), w.model.version);
    std::vector<GcSlot> live;
    for (u64 offset = 0; offset < w.model.length; ++offset)
      for (unsigned kind = 0; kind < 4; ++kind) {
        CodePoint point{offset, kind == 1, kind == 2, kind == 3};
        ASSERT_TRUE(info.live_slots(point, live)) << offset;
        ASSERT_EQ(live, w.model.live_slots(point)) << "offset " << offset << ", kind " << kind;
      }
  });
}

TEST(GcInfo, CallsReturnToSafePointsAndRanges) {
  for_each_written(40, [](const Written &w) {
    const Memory memory = memory_of(w.bytes);
    const GcInfo info(memory, place, w.model.encoding(), w.model.version);
    for (u64 offset = 1; offset < w.model.length; ++offset) {
      const u64 at = (offset - (w.model.version < 4 ? 1 : 0)) / w.model.unit();
      bool expected = false;
      for (const auto &[safe_point, live] : w.model.safe_points)
        expected |= safe_point == at;
      for (auto [start, end] : w.model.ranges)
        expected |= at >= start && at < end;
      ASSERT_EQ(info.is_return_point(offset), expected) << offset;
    }
  });
}

// A dump ends anywhere. What is there tells all that rests on it, or that the first byte behind is missing.
TEST(GcInfo, IsReadToTheLastByteThatIsThere) {
  for_each_written(4, [](const Written &w) {
    std::vector<GcSlot> whole, live;
    const Memory all = memory_of(w.bytes);
    for (u64 size = 0; size < w.bytes.size(); ++size) {
      const Memory memory = memory_of(Bytes(w.bytes).first(size));
      const GcInfo info(memory, place, w.model.encoding(), w.model.version);
      for (u64 offset = 0; offset < w.model.length; offset += 41) {
        const ReadOutcome outcome = info.live_slots({offset}, live);
        ASSERT_NE(outcome.kind, ReadOutcome::Kind::malformed) << outcome.text();
        if (outcome) {
          ASSERT_TRUE(GcInfo(all, place, w.model.encoding(), w.model.version).live_slots({offset}, whole));
          ASSERT_EQ(live, whole);
        } else {
          ASSERT_GE(outcome.at, place + size);
        }
      }
    }
  });
}

// Two pieces of the dump that touch are one.
TEST(GcInfo, MayLieAcrossPieces) {
  Written w(Architecture::x64, 4, 3);
  const u64 half = w.bytes.size() / 2;
  const std::vector<std::byte> first(w.bytes.begin(), w.bytes.begin() + static_cast<i64>(half)),
      second(w.bytes.begin() + static_cast<i64>(half), w.bytes.end());
  const Memory memory(Format{}, {Range{place, first}, Range{place + half, second}});
  const GcInfo info(memory, place, w.model.encoding(), w.model.version);
  std::vector<GcSlot> live;
  for (u64 offset = 0; offset < w.model.length; ++offset) {
    ASSERT_TRUE(info.live_slots({offset, true}, live));
    ASSERT_EQ(live, w.model.live_slots({offset, true}));
  }
}

void expect_sound(const GcInfo &info, const GcInfoEncoding &encoding, std::mt19937_64 &random) {
  std::vector<GcSlot> live;
  for (int i = 0; i < 4; ++i) {
    const u64 offset = info.code_length() ? random() % (info.code_length() + 8) : 0;
    if (!info.live_slots({offset, i == 0, i == 1, i == 2}, live))
      continue;
    for (const GcSlot &slot : live)
      if (slot.base == GcSlot::Base::none) {
        ASSERT_LT(slot.reg, encoding.register_count);
        ASSERT_NE(slot.reg, encoding.stack_pointer);
      }
  }
  (void)info.is_return_point(random());
}

TEST(GcInfo, AnyBytesDoNoHarm) {
  std::mt19937_64 random(1);
  for (u32 round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes(1 + random() % 80);
    const bool dense = random() & 1;
    for (std::byte &byte : bytes)
      byte = static_cast<std::byte>(dense ? random() : random() & random() & random());
    const Memory memory = memory_of(bytes);
    const GcInfoEncoding &encoding = *gc_info_encoding(random() & 1 ? Architecture::x64 : Architecture::arm64);
    expect_sound(GcInfo(memory, place, encoding, 2 + random() % 4), encoding, random);
    if (HasFailure())
      return;
  }
}

// Sound GC info with a few bits turned over.
TEST(GcInfo, DamageDoesNoHarm) {
  for_each_written(60, [](Written &w) {
    for (int i = 0; i < 20; ++i) {
      std::vector<std::byte> bytes = w.bytes;
      for (int flips = 0; flips < 3; ++flips)
        bytes[w.random() % bytes.size()] ^= std::byte{1} << (w.random() % 8);
      const Memory memory = memory_of(bytes);
      expect_sound(GcInfo(memory, place, w.model.encoding(), w.model.version), w.model.encoding(), w.random);
    }
  });
}

TEST(GcInfo, VersionsThatAreNotKnown) {
  Written w(Architecture::x64, 4, 1);
  const Memory memory = memory_of(w.bytes);
  for (u32 version : {0u, 1u, 6u})
    EXPECT_EQ(GcInfo(memory, place, w.model.encoding(), version).outcome().kind, ReadOutcome::Kind::malformed);
  EXPECT_EQ(gc_info_encoding(Architecture::riscv64), nullptr);
}

// Nothing is read behind the bound that the caller names.
TEST(GcInfo, EndsAtItsBound) {
  Written w(Architecture::x64, 4, 5);
  const Memory memory = memory_of(w.bytes);
  EXPECT_EQ(GcInfo(memory, place, w.model.encoding(), 4, 2).outcome().kind, ReadOutcome::Kind::malformed);
}

} // namespace
} // namespace dnheap::test
