#include "base/host/host.h"
#include "base/host/memory_limit.h"
#include "support/run.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#ifdef __linux__
#include <sys/resource.h>
#endif
#include <sys/stat.h>
#include <unistd.h>

namespace dnheap {
namespace {

TEST(HostDeathTest, NoFileTakesTheNumberOfAStandardStream) {
  EXPECT_EXIT(
      {
        for (int file : {0, 1, 2})
          ::close(file);
        make_streams_safe();
        ::_exit(::open("/", O_RDONLY) > 2 && ::write(1, "x", 1) < 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Host, ANewFileIsWhereALinkLeads) {
  test::TemporaryFolder folder;
  std::filesystem::create_symlink("second", folder.path("first"));
  std::filesystem::create_symlink(folder.path("file"), folder.path("second"));
  for (const std::string text : {"new", "newer"}) { // nothing is there at first
    NewFile file(folder.path("first"));
    file.write(Bytes(reinterpret_cast<const std::byte *>(text.data()), text.size()));
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path("first")) &&
                std::filesystem::is_symlink(folder.path("second")));
    EXPECT_EQ(test::read_file(folder.path("file")), text);
  }
}

TEST(Host, TemporaryFilesHaveNoName) {
  test::TemporaryFolder folder;
  TemporaryFile file(folder.path());
  file.write(as_bytes(std::span("text", 4)));
  EXPECT_TRUE(files_below(folder.path(), 10).empty());
  EXPECT_EQ(as_text(file.map()->bytes()), "text");
}

TEST(Host, ZerosAreHolesOfTemporaryFiles) {
  test::TemporaryFolder folder;
  std::string text(40 << 20, '\0');
  text.replace(20 << 20, 5, "hello");
  TemporaryFile file(folder.path());
  file.write(as_bytes(std::span(text)));
  EXPECT_EQ(file.size(), text.size());
  EXPECT_TRUE(as_text(file.map()->bytes()) == text);
  u64 found = 0;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone; // the iterator's own
    struct stat info {};
    if (std::filesystem::read_symlink(entry, gone).string().starts_with(folder.path()) &&
        ::stat(entry.path().c_str(), &info) == 0) {
      ++found;
      EXPECT_EQ(static_cast<u64>(info.st_size), text.size());
      EXPECT_LE(info.st_blocks * 512, 1 << 20);
    }
  }
  EXPECT_GE(found, 1u);
}

#ifdef __linux__
// In a process of its own: the limit stays.
TEST(MemoryLimitDeathTest, WhatItDoesNotCountIsTakenOffIt) {
  auto left = [] {
    rlimit limit{};
    return ::getrlimit(RLIMIT_DATA, &limit) == 0 ? u64{limit.rlim_cur} : 0;
  };
  EXPECT_EXIT(
      {
        const u64 before = left();
        bool right = true;
        {
          const UncountedMemory copy(1 << 20);
          right = right && left() == before; // there is no limit of ours
          right = right && limit_memory(u64{1} << 30) && left() == (u64{1} << 30) - (1 << 20);
          const UncountedMemory more(u64{1} << 31);
          right = right && left() == 1; // 0 would be no limit
        }
        right = right && left() == u64{1} << 30;
        ::_exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

} // namespace
} // namespace dnheap
