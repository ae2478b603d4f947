#include "cli/options/shell_line.h"
#include "dnheap/error.h"

#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

using Strings = std::vector<std::string>;

TEST(ShellLines, AreTakenApart) {
  const ShellLine piped = parse_line("  stat --type 'a | b' | grep -c x > y # z");
  EXPECT_EQ(piped.words, (Strings{"stat", "--type", "a | b"}));
  EXPECT_EQ(piped.program, " grep -c x > y # z");
  const ShellLine kept = parse_line("show \"a b\" >>out.txt # why");
  EXPECT_EQ(kept.words, (Strings{"show", "a b"}));
  EXPECT_EQ(kept.file, "out.txt");
  EXPECT_TRUE(kept.appends);
  EXPECT_TRUE(parse_line(" # nothing").words.empty());
  for (const char *wrong :
       {"stat 'x", "stat >", "stat > a > b", "stat |  ", "stat > a | b", "> a", "| wc", " >> a # why"})
    EXPECT_THROW(parse_line(wrong), UsageError) << wrong;
  EXPECT_THROW(parse_line(std::string_view("stat\0 --top 3", 13)), UsageError);
}

} // namespace
} // namespace dnheap::cli
