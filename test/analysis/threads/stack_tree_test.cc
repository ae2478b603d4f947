#include "analysis/names/call_text.h"
#include "analysis/threads/stack_tree.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

std::string drawn(const std::vector<AlikeStacks> &stacks) {
  std::string out;
  for (const StackTreeLine &line : stack_tree(stacks))
    out += std::to_string(line.threads) + " " + line.text + "\n";
  return out;
}

TEST(StackTree, OneStackIsOneColumn) { EXPECT_EQ(drawn({{{"C", "B", "A"}, 2}}), "2 A\n2 B\n2 C\n"); }

TEST(StackTree, BranchesBeginWhereStacksPart) {
  EXPECT_EQ(drawn({{{"Sleep", "Work", "Start"}, 3}, {{"Wait", "Lock", "Work", "Start"}, 5}, {{"Main"}, 1}}),
            "8 Start\n"
            "8 Work\n"
            "5 ├ Lock\n"
            "5 │ Wait\n"
            "3 └ Sleep\n"
            "1 Main\n");
}

// Some threads are in the method itself, others went on from it.
TEST(StackTree, AStackThatEndsWhereOthersGoOn) {
  EXPECT_EQ(drawn({{{"Work", "Start"}, 1}, {{"Sleep", "Work", "Start"}, 2}}), "3 Start\n3 Work\n2 └ Sleep\n");
}

TEST(StackTree, CallsOfItselfAreOneLine) {
  EXPECT_EQ(drawn({{{"Walk", "Walk", "Walk", "Main"}, 1}, {{"Leaf", "Walk", "Walk", "Main"}, 1}}),
            "2 Main\n1 ├ Walk ×2\n1 │ Leaf\n1 └ Walk ×3\n");
}

// In a stack of few methods that call each other, as text says it from the outside and from the inside.
TEST(StackTree, CallsOfEachOtherAreOneLine) {
  EXPECT_EQ(drawn({{{"Pong", "Ping", "Pong", "Ping", "Pong", "Ping", "Main"}, 1}}), "1 Main\n1 (Ping → Pong) ×3\n");
  std::vector<std::string> six = {"a", "b", "c", "d", "e", "f", "a", "b", "c", "d", "e", "f"};
  EXPECT_EQ(folded_calls(six, " ← "), std::vector<std::string>{"(a ← b ← c ← d ← … 2 more) ×2"});
}

TEST(StackTree, ADeepOneIsNotDrawnEverDeeper) {
  std::vector<AlikeStacks> stacks;
  std::vector<std::string> methods;
  for (int i = 0; i < 2000; ++i) {
    methods.insert(methods.begin(), "m" + std::to_string(i));
    stacks.push_back({methods, 1});
  }
  const std::vector<StackTreeLine> lines = stack_tree(stacks);
  ASSERT_EQ(lines.size(), 2000u);
  EXPECT_LT(lines.back().text.size(), 200u);
  EXPECT_TRUE(lines.back().text.ends_with("m1999"));
}

TEST(StackTree, NoneIsEmpty) { EXPECT_EQ(drawn({}), ""); }

} // namespace
} // namespace dnheap::test
