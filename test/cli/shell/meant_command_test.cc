#include "cli/commands.h"
#include "dnheap/error.h"
#include "support/run.h"

#include <gtest/gtest.h>
#include <vector>

namespace dnheap::cli {
namespace {

class MeantCommand : public testing::Test {
protected:
  std::string of(const std::vector<std::string> &words) {
    const std::vector<std::string_view> views(words.begin(), words.end());
    return meant_command(views).value_or("");
  }
  bool names(const std::vector<std::string> &words, const std::string &command) {
    return (of(words) + ";").find("that is here: " + command + ";") != std::string::npos;
  }
  test::TemporaryFolder folder_;
  const std::string core_ = folder_.write("a.core", "text"), other_ = folder_.write("b.core", "text");
};

TEST_F(MeantCommand, NamesOurVerbWithTheFileInItsPlace) {
  EXPECT_TRUE(names({"histogram", core_}, "dnheap stat " + core_ + " --by retained")) << of({"histogram", core_});
  EXPECT_TRUE(names({"dumpheap", "-stat", core_}, "dnheap stat " + core_));
  EXPECT_TRUE(names({"gcroot", "0x7f00", core_}, "dnheap path " + core_ + " 0x7f00"));
  EXPECT_TRUE(names({"leak", "suspects", core_}, "dnheap report " + core_));
  EXPECT_TRUE(names({"gc", "roots", core_}, "dnheap roots " + core_));
  EXPECT_TRUE(names({"comparison", core_, other_}, "dnheap diff " + core_ + " " + other_));
  EXPECT_TRUE(names({"oql", core_, "select 1"}, "dnheap query " + core_ + " 'select 1'"));
  EXPECT_TRUE(names({"histogram", "missing/core.1"}, "dnheap stat missing/core.1 --by retained"));
  EXPECT_TRUE(names({"timers", "-p", "12"}, "dnheap inspect -p 12 timers"));
  EXPECT_TRUE(names({"histogram"}, "dnheap stat TARGET --by retained"));
  EXPECT_TRUE(names({"help", "histogram"}, "dnheap stat TARGET --by retained"));
  EXPECT_NE(of({"histogram", core_}).find("dnheap shell " + core_), std::string::npos);
}

TEST_F(MeantCommand, LeavesOtherLinesAlone) {
  for (const std::vector<std::string> &words : std::vector<std::vector<std::string>>{
           {}, {"stat", core_}, {"--help"}, {"help", "stat"}, {"help"}, {core_}, {"nonsense", core_}, {"gc", core_}})
    EXPECT_EQ(of(words), "") << (words.empty() ? "" : words[0]);
}

TEST_F(MeantCommand, SaysWhyAWordHasNoAnswer) {
  EXPECT_THROW(of({"traverseheap", core_}), UsageError);
  EXPECT_THROW(of({"pathto", core_}), UsageError);
}

} // namespace
} // namespace dnheap::cli
