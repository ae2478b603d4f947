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
    Output output(path, {"dump"}, false);
    EXPECT_EQ(test::read_file(path), "old");
    std::fputs("new", output.begin());
    output.finish();
  }
  EXPECT_EQ(test::read_file(path), "new");
}

TEST(Output, LeavesNoFileBehindWithoutAnAnswer) {
  test::TemporaryFolder folder;
  std::string path = folder.path("answer");
  { Output output(path, {"dump"}, false); }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    Output output(path, {"dump"}, false);
    std::fputs("half", output.begin());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// What was there before stays until the new one is whole.
TEST(Output, AFailureLeavesTheOldFile) {
  test::TemporaryFolder folder;
  const std::string path = folder.write("answer", "old"), link = folder.path("link");
  std::filesystem::create_symlink("answer", link);
  for (const std::string &name : {path, link}) {
    Output output(name, {"dump"}, false);
    std::fputs("half", output.begin());
  }
  EXPECT_EQ(test::read_file(path), "old");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

TEST(Output, AFolderIsRefusedBeforeThereIsAnAnswer) {
  test::TemporaryFolder folder;
  try {
    Output output(folder.path(), {"dump"}, false);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "cannot write to " + folder.path() + ": Is a directory");
  }
}

TEST(Output, WhatIsPrivateIsItsOwners) {
  using std::filesystem::perms;
  test::TemporaryFolder folder;
  const std::string path = folder.write("answer", "old");
  auto write = [&](bool is_private) {
    Output output(path, {"dump"}, is_private);
    output.begin();
    output.finish();
    return std::filesystem::status(path).permissions();
  };
  std::filesystem::permissions(path, perms::owner_all | perms::others_read);
  EXPECT_EQ(write(false), perms::owner_all | perms::others_read);
  EXPECT_EQ(write(true), perms::owner_read | perms::owner_write);
  std::filesystem::remove(path);
  EXPECT_EQ(write(false) & perms::group_exec, perms::none);
  EXPECT_EQ(write(false) & perms::owner_all, perms::owner_read | perms::owner_write);
}

TEST(Output, FollowsALinkThatLeadsToNothingYet) {
  test::TemporaryFolder folder;
  const std::string path = folder.path("answer"), link = folder.path("link");
  std::filesystem::create_symlink("answer", link);
  { Output output(link, {"dump"}, false); }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  {
    Output output(link, {"dump"}, false);
    std::fputs("new", output.begin());
    output.finish();
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(test::read_file(path), "new");
}

TEST(Output, RefusesTheDumpItselfAndWhatCannotBeWritten) {
  test::TemporaryFolder folder;
  std::string dump = folder.write("core", "precious");
  EXPECT_THROW(Output(folder.path() + "/./core", {"other", dump}, false), UsageError);
  EXPECT_EQ(test::read_file(dump), "precious");
  EXPECT_THROW(Output(folder.path("no/such/folder"), {dump}, false), Error);
  EXPECT_THROW(Output(folder.path(), {dump}, false).begin(), Error);
}

} // namespace
} // namespace dnheap::cli
