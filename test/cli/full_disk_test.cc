// No room for what the program writes: one line that says where, exit code 3, no file left behind.
#include "support/core_file.h"
#include "support/places.h"
#include "support/run.h"
#include "support/zstd.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <random>

namespace dnheap::cli {
namespace {

const std::string program = "'" + test::program() + "' ";

// A core with rows enough for some hundred KB of output.
std::string write_core(const test::TemporaryFolder &folder) {
  test::HeapBuilder heap({});
  test::SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  for (int i = 0; i < 20000; ++i)
    young.string("text");
  return folder.write("a.core", test::core_file(heap));
}

TEST(FullDisk, WhileExtracting) {
  test::TemporaryFolder folder, room;
  const std::string core = write_core(folder);
  test::RunResult result =
      test::run("ulimit -f 100; " + program + "extract '" + core + "' -o '" + room.path("small.core") + "'");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(result.err.starts_with("dnheap: cannot write to " + room.path("small.core") + " after ")) << result.err;
  EXPECT_TRUE(result.err.ends_with(" bytes: File too large; the incomplete file is removed\n")) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(room.path()));
}

TEST(FullDisk, WhileExporting) {
  test::TemporaryFolder folder, room;
  const std::string core = write_core(folder), file = room.path("heap");
  for (const char *as : {"ndjson", "heapsnapshot", "gcdump", "sqlite"}) {
    test::RunResult result =
        test::run("ulimit -f 100; " + program + "export '" + core + "' --as " + as + " -o '" + file + "'");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_TRUE(result.err.starts_with("dnheap: cannot write to " + file)) << result.err;
    EXPECT_TRUE(result.err.ends_with("; the incomplete file is removed\n")) << result.err;
    EXPECT_TRUE(std::filesystem::is_empty(room.path()));
  }
}

TEST(FullDisk, WhileDecompressing) {
  test::TemporaryFolder folder, room;
  std::string path = folder.write("a.core.zst", test::compressed_zeros(1));
  // The largest file allowed, in blocks of 512 or 1024 bytes; the kernel sends SIGXFSZ to whoever writes more.
  test::RunResult result =
      test::run("ulimit -f 1000; " + program + "stat '" + path + "' --temp-dir '" + room.path() + "'");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(result.err.starts_with(
      "dnheap: " + path + ": cannot write the decompressed dump to a temporary file in " + room.path() + " after "))
      << result.err;
  EXPECT_TRUE(result.err.ends_with(" bytes: File too large; give another folder with --temp-dir DIR\n")) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(room.path()));
}

TEST(FullDisk, WhileDecompressingToAFileSystemThatIsFull) {
  test::TemporaryFolder folder, room;
  if (test::run("mount -t tmpfs -o size=8m dnheap-test '" + room.path() + "'").exit_code != 0)
    GTEST_SKIP() << "NOT TESTED: this user cannot mount a small file system";
  std::string noise(16 << 20, 0);
  std::mt19937_64 random(1);
  for (char &byte : noise)
    byte = static_cast<char>(random());
  std::string path = folder.write("a.core.zst", test::zstd(test::read_file(write_core(folder)) + noise));
  test::RunResult result = test::run(program + "stat '" + path + "' --temp-dir '" + room.path() + "'");
  bool is_empty = std::filesystem::is_empty(room.path());
  test::RunResult answer = test::run("head -c 8000000 /dev/zero >'" + room.path() + "/zeros'; " + program +
                                     "objects '" + write_core(folder) + "' --top 0 -o '" + room.path() + "/answer'");
  bool is_there = std::filesystem::exists(room.path("answer"));
  EXPECT_EQ(test::run("umount '" + room.path() + "'").exit_code, 0);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(result.err.ends_with(" to other programs; give another folder with --temp-dir DIR\n")) << result.err;
  EXPECT_TRUE(is_empty);
  EXPECT_EQ(answer.exit_code, 3);
  EXPECT_EQ(answer.err, "dnheap: cannot write to " + room.path() + "/answer: No space left on device\n");
  EXPECT_FALSE(is_there);
}

TEST(FullDisk, WhileWritingTheAnswer) {
  test::TemporaryFolder folder;
  std::string path = write_core(folder), answer = folder.path("answer");
  for (const char *format : {"text", "json", "csv"}) {
    test::RunResult result = test::run("ulimit -f 50; " + program + "objects '" + path + "' --top 0 --format " +
                                       format + " -o '" + answer + "'");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.err, "dnheap: cannot write to " + answer + ": File too large\n");
    EXPECT_FALSE(std::filesystem::exists(answer));
  }
  if (std::filesystem::exists("/dev/full")) {
    test::RunResult result = test::run(program + "stat '" + path + "' -o /dev/full");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.err, "dnheap: cannot write to /dev/full: No space left on device\n");
    EXPECT_TRUE(std::filesystem::exists("/dev/full"));
  }
}

// And what is written to them is an error like any other.
TEST(ClosedStreams, AreErrorsOrOfNoConcern) {
  test::TemporaryFolder folder, room;
  std::string path = write_core(folder);
  test::RunResult result = test::run(program + "stat '" + path + "' <&- >&-");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "dnheap: cannot write to standard output: Bad file descriptor\n");

  std::string packed = folder.write("a.core.zst", test::zstd(test::read_file(path)));
  result = test::run(program + "stat '" + packed + "' --temp-dir '" + room.path() + "' <&- >&-");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "dnheap: cannot write to standard output: Bad file descriptor\n");
  std::string before = test::read_file(path);
  EXPECT_EQ(test::run(program + "stat '" + path + "' 2>&-").exit_code, 0);
  EXPECT_EQ(test::run(program + "stat '" + path + "' --top x 2>&-").exit_code, 2);
  EXPECT_EQ(test::read_file(path), before);
}

TEST(ClosedStreams, AReaderThatHasSeenEnoughIsNoFailure) {
  test::TemporaryFolder folder;
  std::string path = write_core(folder);
  test::RunResult result = test::run("{ " + program + "objects '" + path + "' --top 0; echo $? >&2; } | head -c 10");
  EXPECT_EQ(result.err, "0\n");
}

} // namespace
} // namespace dnheap::cli
