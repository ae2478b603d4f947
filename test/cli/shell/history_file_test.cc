#include "cli/shell/history_file.h"
#include "support/run.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dnheap::cli {
namespace {

using Strings = std::vector<std::string>;

unsigned mode_of(const std::string &path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
}

class History : public testing::Test {
protected:
  test::TemporaryFolder folder_;
  const std::string path_ = folder_.path("state/dnheap/history");
};

TEST_F(History, IsThereTheNextTimeAndForItsOwnerAlone) {
  ::umask(0);
  const HistoryFile file(path_);
  EXPECT_EQ(file.path(), path_);
  EXPECT_TRUE(file.lines().empty());
  file.add("stat --top 5");
  HistoryFile(path_).add("path 'Größe'");
  EXPECT_EQ(HistoryFile(path_).lines(), (Strings{"stat --top 5", "path 'Größe'"}));
  EXPECT_EQ(mode_of(path_), 0600u);
  EXPECT_EQ(mode_of(folder_.path("state/dnheap")), 0700u);
  ::chmod(path_.c_str(), 0644);
  file.add("x");
  EXPECT_EQ(mode_of(path_), 0600u) << "even if somebody opened it to others";
}

TEST_F(History, HoldsTheLastLines) {
  const HistoryFile file(path_);
  {
    std::ofstream out(path_);
    for (std::size_t i = 0; i < 2 * HistoryFile::most_lines; ++i)
      out << "line " << i << "\n";
    out << "cut off";
  }
  const Strings lines = file.lines();
  ASSERT_EQ(lines.size(), HistoryFile::most_lines);
  EXPECT_EQ(lines.back(), "line " + std::to_string(2 * HistoryFile::most_lines - 1));
  EXPECT_LT(std::filesystem::file_size(path_), 15 * HistoryFile::most_lines) << "the file was cut down";
  EXPECT_EQ(file.lines(), lines);
  EXPECT_EQ(mode_of(path_), 0600u);
}

TEST_F(History, NoFileWhereItIsNotSafe) {
  EXPECT_EQ(HistoryFile("").path(), "");
  EXPECT_EQ(HistoryFile("/proc/dnheap/history").path(), "");
  std::filesystem::create_directories(folder_.path("state/dnheap"));
  const std::string other = folder_.write("other", "precious\n");
  std::filesystem::create_symlink(other, path_);
  const HistoryFile link(path_);
  EXPECT_EQ(link.path(), "") << "a link may lead anywhere";
  link.add("x");
  EXPECT_EQ(std::filesystem::file_size(other), 9u);
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(HistoryFile(path_).path(), "") << "nobody waits for a pipe";
  if (::geteuid() == 0) {
    std::filesystem::remove(path_);
    ASSERT_EQ(::chown(folder_.path("state/dnheap").c_str(), 12345, 12345), 0);
    EXPECT_EQ(HistoryFile(path_).path(), "") << "somebody else's folder";
  }
}

TEST_F(History, IsWhereTheEnvironmentSays) {
  ::setenv("XDG_STATE_HOME", folder_.path("xdg").c_str(), 1);
  EXPECT_EQ(HistoryFile::of_user().path(), folder_.path("xdg/dnheap/history"));
  ::unsetenv("XDG_STATE_HOME");
  ::setenv("HOME", folder_.path("").c_str(), 1);
  EXPECT_EQ(std::filesystem::path(HistoryFile::of_user().path()).lexically_normal(),
            std::filesystem::path(folder_.path(".local/state/dnheap/history")).lexically_normal());
  ::unsetenv("HOME");
  EXPECT_EQ(HistoryFile::of_user().path(), "");
}

} // namespace
} // namespace dnheap::cli
