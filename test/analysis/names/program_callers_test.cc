// Which methods of a program call something: lists in words, and names of types without their arguments.
#include "analysis/names/program_callers.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

ProgramCaller caller(const char *name, bool has_run = false) {
  return {nullptr, 1, name, "System.Runtime.InteropServices.Marshal", "AllocHGlobal", has_run};
}

TEST(ProgramCallers, InWords) {
  EXPECT_EQ(callers_text({}), "");
  EXPECT_EQ(callers_text({caller("Shop.A.Run"), caller("Shop.A.Run")}), "Shop.A.Run");
  EXPECT_EQ(callers_text({caller("Shop.A.Run"), caller("Shop.B.Run")}), "Shop.A.Run and Shop.B.Run");
  EXPECT_EQ(callers_text({caller("a"), caller("b"), caller("c")}), "a, b and 1 other");
  EXPECT_EQ(callers_text({caller("a"), caller("b"), caller("c"), caller("d")}), "a, b and 2 others");
  EXPECT_EQ(caller("a").brief_callee(), "Marshal.AllocHGlobal");
  const ProgramCaller maker{nullptr, 1, "a", "Shop.Rows`2+Row", ".ctor", false};
  EXPECT_EQ(maker.brief_callee(), "Row");
}

// What never ran is no reason, if it is known what ran.
TEST(ProgramCallers, ThoseThatRan) {
  EXPECT_EQ(first_run({caller("a"), caller("b", true)}).size(), 1u);
  EXPECT_EQ(first_run({caller("a"), caller("b")}).size(), 2u);
}

TEST(ProgramCallers, OpenNames) {
  EXPECT_EQ(open_type_name("Shop.Cart"), "Shop.Cart");
  EXPECT_EQ(open_type_name("Shop.Rows<System.Int32, Shop.Pair<System.String, Shop.Cart>>+Row"), "Shop.Rows`2+Row");
  EXPECT_EQ(open_type_name("System.Collections.Generic.List<Shop.Cart[]>"), "System.Collections.Generic.List`1");
  EXPECT_EQ(open_type_name("Shop.Cart+<Pay>d__11"), "Shop.Cart+<Pay>d__11");
  EXPECT_EQ(open_type_name("Shop.Cart+<>c__DisplayClass3_0"), "Shop.Cart+<>c__DisplayClass3_0");
}

} // namespace
} // namespace dnheap::test
