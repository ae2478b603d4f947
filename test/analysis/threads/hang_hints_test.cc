// What is known beforehand of waits and of methods that take long.
#include "analysis/threads/hang_hints.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(HangHints, TheMethodThatIsCalledCountsBeforeTheWait) {
  EXPECT_TRUE(hang_hint("", "System.Text.RegularExpressions.Regex.IsMatch").starts_with("A Regex that "));
  EXPECT_TRUE(hang_hint("", "System.Collections.Generic.List<System.Int32>.RemoveAt").starts_with("It looks at, or "));
  EXPECT_TRUE(hang_hint("", "System.Array.IndexOf<System.Func<System.Int32>>").starts_with("It looks at, or "));
  EXPECT_TRUE(hang_hint("", "System.String.Concat").starts_with("Text that grows "));
  EXPECT_TRUE(hang_hint("the end of a process", "").starts_with("A process whose "));
  EXPECT_TRUE(hang_hint("a free place in a BlockingCollection", "").starts_with("It is full"));
  EXPECT_TRUE(hang_hint("an item in a BlockingCollection", "").starts_with("It is empty"));
}

TEST(HangHints, NothingForWhatIsUsual) {
  EXPECT_EQ(hang_hint("", ""), "");
  EXPECT_EQ(hang_hint("", ">"), "");
  EXPECT_EQ(hang_hint("sleep", ""), "");
  EXPECT_EQ(hang_hint("", "System.Collections.Generic.List<System.Int32>.Add"), "");
  EXPECT_EQ(hang_hint("", "Shop.Text.RegularExpressions.Regex.IsMatch"), "");
}

} // namespace
} // namespace dnheap::test
