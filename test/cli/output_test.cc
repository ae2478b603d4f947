#include "cli/output.h"
#include "dnheap/error.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

TEST(Output, ReplacesTheFileOnlyWhenThereIsSomethingToWrite) {
  test::TemporaryFolder folder;
  std::string path = folder.write("answer", "old");
  {
    Output output(path, {"dump"});
    EXPECT_EQ(test::read_file(path), "old");
    std::fputs("new", output.begin());
    output.finish();
  }
  EXPECT_EQ(test::read_file(path), "new");
}

TEST(Output, LeavesNoFileBehindWithoutAnAnswer) {
  test::TemporaryFolder folder;
  std::string path = folder.path("answer");
  { Output output(path, {"dump"}); }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    Output output(path, {"dump"});
    std::fputs("half", output.begin());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Output, FollowsALinkThatLeadsToNothingYet) {
  test::TemporaryFolder folder;
  const std::string path = folder.path("answer"), link = folder.path("link");
  std::filesystem::create_symlink("answer", link);
  { Output output(link, {"dump"}); }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  {
    Output output(link, {"dump"});
    std::fputs("new", output.begin());
    output.finish();
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(test::read_file(path), "new");
}

TEST(Output, RefusesTheDumpItselfAndWhatCannotBeWritten) {
  test::TemporaryFolder folder;
  std::string dump = folder.write("core", "precious");
  EXPECT_THROW(Output(folder.path() + "/./core", {"other", dump}), UsageError);
  EXPECT_EQ(test::read_file(dump), "precious");
  EXPECT_THROW(Output(folder.path("no/such/folder"), {dump}), Error);
  EXPECT_THROW(Output(folder.path(), {dump}).begin(), Error);
}

} // namespace
} // namespace dnheap::cli
