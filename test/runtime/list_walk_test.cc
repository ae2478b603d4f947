#include "runtime/list_walk.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

TEST(ListWalk, SaysWhetherItLeadsBackOrIsTooLong) {
  ListWalk walk(3);
  for (Address node : {0x10, 0x20, 0x30})
    EXPECT_EQ(walk.why_not(node), "");
  EXPECT_EQ(walk.why_not(0x20), "runs in a circle at 0x20");
  EXPECT_EQ(walk.why_not(0x40), "is longer than 3: the rest is not read");
}

} // namespace
} // namespace dnheap
