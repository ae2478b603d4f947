#include "cli/shell/suggestion.h"

#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

TEST(Suggestion, TheWrongWordIsReplacedInTheLine) {
  EXPECT_EQ(suggested_line("dumpheep -stat | head", "'dumpheep' is neither a verb nor a command of SOS, Eclipse MAT or "
                                                    "Chrome that dnheap knows, did you mean 'dumpheap'?"),
            "dumpheap -stat | head");
  EXPECT_EQ(suggested_line("!dumpheep", "'dumpheep' is neither …, did you mean 'dumpheap'?"), "!dumpheap");
  EXPECT_EQ(suggested_line("stat --sort=cuont", "--sort: 'cuont' is none of bytes, count, did you mean 'count'?"),
            "stat --sort=count");
  EXPECT_EQ(suggested_line("stat --json", "unknown option '--json', did you mean '--format json'?"),
            "stat --format json");
  EXPECT_EQ(suggested_line("path Ordr", "no type on this heap is called 'Ordr', did you mean 'Shop.Order'?"),
            "path Shop.Order");
  EXPECT_EQ(suggested_line("path 'Lst<Order>'",
                           "no type on this heap is called 'Lst<Order>', did you mean 'List<Shop.Order, Shop.Line>'?"),
            "path 'List<Shop.Order, Shop.Line>'");
  EXPECT_EQ(suggested_line("path Lst", "no type is called 'Lst', did you mean 'List<Shop.Order, Shop.Line>'?"),
            "path 'List<Shop.Order, Shop.Line>'")
      << "a name with spaces is quoted";
}

// Names of a dump may be made to be typed: what stands behind them must not become a program or an option.
TEST(Suggestion, NamesStayOneWord) {
  auto of = [](const char *line, const char *name) {
    return suggested_line(line, std::string("no type is called 'Cart', did you mean '") + name + "'?");
  };
  EXPECT_EQ(of("path Cart", "Cart\"|touch x"), "path 'Cart\"|touch x'");
  EXPECT_EQ(of("path Cart", "Cart\"x"), "path 'Cart\"x'");
  EXPECT_EQ(of("path 'Cart'", "Cart\" | touch x"), "path 'Cart\" | touch x'");
  EXPECT_EQ(of("path \"Cart\"", "Cart | touch x"), "path \"Cart | touch x\"");
  EXPECT_EQ(of("path \"Cart\"", "Cart\" | touch x"), std::nullopt);
  EXPECT_EQ(of("path Cart", "-Cart"), std::nullopt);
  EXPECT_EQ(of("path Cart", "--output=Cart"), std::nullopt);
  EXPECT_EQ(suggested_line("path -Cart", "no type is called '-Cart', did you mean '-Cart|touch x'?"), std::nullopt);
}

TEST(Suggestion, WithoutAProposalOrItsWordThereIsNone) {
  EXPECT_EQ(
      suggested_line("nonsense",
                     "'nonsense' is neither a verb nor a command of SOS, Eclipse MAT or Chrome that dnheap knows"),
      std::nullopt);
  EXPECT_EQ(suggested_line("stat", "'dumpheep' is unknown, did you mean 'dumpheap'?"), std::nullopt);
  EXPECT_EQ(suggested_line("dumpheeps", "'dumpheep' is unknown, did you mean 'dumpheap'?"), std::nullopt)
      << "a part of a word";
  EXPECT_EQ(suggested_line("x", "did you mean 'y'?"), std::nullopt) << "nothing is said to be wrong";
  EXPECT_EQ(suggested_line("x", "'x' is unknown, did you mean 'y"), std::nullopt);
}

TEST(Suggestion, YesIsAnAnswerAndEnterOnlyAtAPrompt) {
  EXPECT_TRUE(accepts_suggestion("y", false));
  EXPECT_TRUE(accepts_suggestion(" yes ", false));
  EXPECT_TRUE(accepts_suggestion("", true));
  EXPECT_FALSE(accepts_suggestion("", false));
  EXPECT_FALSE(accepts_suggestion("stat", true));
}

} // namespace
} // namespace dnheap::cli
