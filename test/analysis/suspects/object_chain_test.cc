// What the search for suspects takes for a chain: a path on which few types alternate for long enough.
#include "analysis/suspects/object_chain.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

std::vector<u32> path(std::vector<u32> begin, const std::vector<u32> &period, u64 length) {
  while (begin.size() < length)
    begin.push_back(period[begin.size() % period.size()]);
  return begin;
}

TEST(ObjectChain, BeginsWhereTheTypesRepeat) {
  EXPECT_EQ(chain_begin(path({}, {7}, 64)), 0u);
  EXPECT_EQ(chain_begin(path({1}, {7}, 64)), 1u);
  EXPECT_EQ(chain_begin(path({1, 2, 3, 4}, {7}, 128)), 4u);
}

TEST(ObjectChain, TypesMayAlternate) {
  EXPECT_EQ(chain_begin(path({}, {7, 8}, 64)), 0u);
  EXPECT_EQ(chain_begin(path({}, {7, 8, 9}, 64)), 0u);
  EXPECT_EQ(chain_begin(path({}, {5, 6, 7, 8}, 64)), std::nullopt); // too many
}

TEST(ObjectChain, ShortOnesAreNone) {
  EXPECT_EQ(chain_begin(path({}, {7}, 63)), std::nullopt);
  EXPECT_EQ(chain_begin(path({1, 2, 3, 4}, {7}, 64)), std::nullopt);
  EXPECT_EQ(chain_begin(std::vector<u32>{}), std::nullopt);
}

} // namespace
} // namespace dnheap::test
