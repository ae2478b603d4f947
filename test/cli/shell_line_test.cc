#include "cli/shell_line.h"
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
  for (const char *wrong : {"stat 'x", "stat >", "stat > a > b", "stat |  ", "stat > a | b"})
    EXPECT_THROW(parse_line(wrong), UsageError) << wrong;
}

TEST(ShellLines, SosNamesBecomeOurs) {
  EXPECT_EQ(our_words({"!DumpHeap", "-stat"}), (Strings{"stat"}));
  EXPECT_EQ(our_words({"dumpheap", "-type", "X", "-STAT"}), (Strings{"stat", "--type", "X"}));
  EXPECT_EQ(our_words({"dumpheap"}), (Strings{"objects"}));
  EXPECT_EQ(our_words({"do", "7f00`1234"}), (Strings{"show", "--values", "7f00`1234"}));
  EXPECT_EQ(our_words({"stat"}), (Strings{"stat"}));
  EXPECT_EQ(our_words({"dumpheap", "-mt", "7f00"}), (Strings{"objects", "--type-exact", "7f00"}));
  for (const Strings &none : {Strings{"pathto", "1", "2"}, Strings{"EphRefs"}, Strings{"dumpheap", "-max", "3"}})
    EXPECT_THROW(our_words(none), UsageError) << none[0];
}

} // namespace
} // namespace dnheap::cli
