#include "base/host.h"
#include "support/run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
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

TEST(Host, TemporaryFilesHaveNoName) {
  test::TemporaryFolder folder;
  TemporaryFile file(folder.path());
  file.write(as_bytes(std::span("text", 4)));
  EXPECT_TRUE(files_below(folder.path(), 10).empty());
  EXPECT_EQ(as_text(file.map()->bytes()), "text");
}

} // namespace
} // namespace dnheap
