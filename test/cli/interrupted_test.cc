// Ctrl-C and its like, wherever the program is: one line, exit code 130, no file left behind.
#include "support/core_file.h"
#include "support/run.h"
#include "support/zstd.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dnheap::cli {
namespace {

const int signals[] = {SIGINT, SIGTERM, SIGHUP};

void expect_interrupted(test::Child &child) {
  test::RunResult result = child.wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.err, "dnheap: interrupted\n");
}

bool has_open(const test::Child &child, const std::string &part) {
  std::error_code ignored;
  for (const auto &file : std::filesystem::directory_iterator("/proc/" + std::to_string(child.pid()) + "/fd", ignored))
    if (std::filesystem::read_symlink(file, ignored).string().find(part) != std::string::npos)
      return true;
  return false;
}

TEST(Interrupted, WhileNobodyReadsTheRows) {
  test::HeapBuilder heap({});
  test::SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  for (int i = 0; i < 20000; ++i)
    young.string("text");
  test::TemporaryFolder folder;
  std::string path = folder.write("a.core", test::core_file(heap));
  for (const char *format : {"text", "json", "csv"})
    for (int signal : signals) {
      test::Child child({"objects", path, "--top", "0", "--format", format});
      child.wait_for_output();
      child.signal(signal);
      expect_interrupted(child);
    }
}

TEST(Interrupted, WhileDecompressing) {
  if (!std::filesystem::exists("/proc/self/fd"))
    GTEST_SKIP() << "no /proc here";
  test::TemporaryFolder folder, room;
  std::string path = folder.write("a.core.zst", test::compressed_zeros(64));
  for (int signal : signals) {
    test::Child child({"stat", path, "--temp-dir", room.path(), "-o", folder.path("answer")});
    for (int i = 0; i < 1000 && !has_open(child, room.path()); ++i)
      ::usleep(1000);
    EXPECT_TRUE(has_open(child, room.path()));
    EXPECT_TRUE(std::filesystem::is_empty(room.path())) << "the file has a name, and may be left behind";
    child.signal(signal);
    expect_interrupted(child);
    EXPECT_TRUE(std::filesystem::is_empty(room.path()));
    EXPECT_FALSE(std::filesystem::exists(folder.path("answer")));
  }
}

// The answer's file is a pipe that nobody has opened yet.
TEST(Interrupted, WhileItWaitsForAReader) {
  test::HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen0).string("text");
  test::TemporaryFolder folder;
  std::string path = folder.write("a.core", test::core_file(heap));
  std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  test::Child child({"stat", path, "-o", pipe});
  ::usleep(300000);
  child.signal(SIGINT);
  expect_interrupted(child);
  EXPECT_TRUE(std::filesystem::exists(pipe));
}

TEST(Interrupted, NotByWhatWasIgnored) {
  test::HeapBuilder heap({});
  test::SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  for (int i = 0; i < 20000; ++i)
    young.string("text");
  test::TemporaryFolder folder;
  std::string path = folder.write("a.core", test::core_file(heap));
  std::signal(SIGHUP, SIG_IGN); // as nohup does it
  test::Child child({"objects", path, "--top", "0"});
  std::signal(SIGHUP, SIG_DFL);
  child.wait_for_output();
  child.signal(SIGHUP);
  ::usleep(100000);
  child.signal(SIGTERM);
  expect_interrupted(child);
}

// A pipe instead of a dump does not keep anybody waiting.
TEST(Interrupted, NotNeededForAPipe) {
  test::TemporaryFolder folder;
  std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  test::Child child({"stat", pipe});
  test::RunResult result = child.wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "dnheap: " + pipe + ": is not a regular file\n");
}

} // namespace
} // namespace dnheap::cli
