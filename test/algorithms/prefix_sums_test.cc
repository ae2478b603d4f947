// Sums of many numbers against one addition after the other, where blocks of them are small and where they are not.
#include "algorithms/prefix_sums.h"
#include "support/graphs.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(PrefixSums, AsAddedUp) {
  GraphDice dice(3);
  for (u64 count : {0, 1, 255, 256, 257, 1000, 70'000}) {
    for (u64 large : {0, 1, 300, 50'000}) { // how many numbers there are from one of 5 billion to the next
      std::vector<u64> numbers(count);
      for (u64 &one : numbers)
        one = large && dice(large) == 0 ? 5'000'000'000 : dice(100);
      for (unsigned threads : {1u, 2u, 3u, 16u}) {
        const PrefixSums sums(count, threads, {}, [&](u64 i) { return numbers[i]; });
        u64 sum = 0;
        for (u64 i = 0; i <= count; ++i) {
          ASSERT_EQ(sums[i], sum) << i << " of " << count;
          sum += i < count ? numbers[i] : 0;
        }
      }
    }
  }
}

TEST(PrefixSums, JustBelowAndAtFourGibibytes) {
  for (u64 more : {0, 1}) {
    const PrefixSums sums(512, 1, {}, [&](u64 i) { return i == 7 ? 0xffffffff - 255 + more : u64{1}; });
    EXPECT_EQ(sums[256], 0xffffffff + more);
    EXPECT_EQ(sums[255], 0xfffffffe + more);
    EXPECT_EQ(sums[512], 0xffffffff + more + 256);
  }
}

} // namespace
} // namespace dnheap::test
