#include "cli/progress.h"
#include "dnheap/program.h"
#include "support/refused_threads.h"

#include <csignal>
#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

TEST(Progress, Text) {
  EXPECT_EQ(progress_text({"walk", 0, 1 << 30, 0, 0}, 100), "walk: 0% of 1.0 GiB");
  EXPECT_EQ(progress_text({"walk", 1 << 28, 1 << 30, 0, 0, 6, 7}, 100), "walk (pass 6 of 7): 25% of 1.0 GiB");
  EXPECT_EQ(progress_text({"mark", 0, 0, 0, 3, 8, 9}, 100), "mark (pass 8 of 9): 3 s so far");
  EXPECT_EQ(progress_text({"walk", 1 << 28, 1 << 30, 4000000, 2}, 100),
            "walk: 25% of 1.0 GiB, 4,000,000 objects, 2,000,000 objects/s, 6 s left");
  EXPECT_EQ(progress_text({"decompress", 1 << 20, 0, 0, 1}, 100), "decompress: 1.0 MiB, 1.0 MiB/s");
  EXPECT_EQ(progress_text({"walk", 3 << 20, 2 << 20, 0, 1}, 100), "walk: 2.0 MiB, finishing, 1 s so far");
  EXPECT_EQ(progress_text({"index", 1 << 30, 1 << 30, 4000000, 12}, 100), "index: 1.0 GiB, finishing, 12 s so far");
  EXPECT_EQ(progress_text({"walk", 1, 500, 0, 10}, 100), "walk: 0% of 500 B, 0 B/s, 83 min left");
  EXPECT_EQ(progress_text({"walk", 1, 10000, 0, 10}, 100), "walk: 0% of 9.8 KiB, 0 B/s, 27.8 h left");
  EXPECT_EQ(progress_text({"walk", 1 << 28, 1 << 30, 4000000, 2}, 18), "walk: 25% of 1.0 G");
}

TEST(Progress, FirstInterruptCancelsAndTheSecondIsLeftToTheSystem) {
  static Progress progress;
  cancel_on_interrupt(progress);
  EXPECT_FALSE(progress.now().is_cancelled);
  std::raise(SIGINT);
  EXPECT_TRUE(progress.now().is_cancelled);
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_DFL);
}

TEST(Progress, StopsAtOnceWhenNothingWasDrawn) {
  Progress progress;
  ProgressLine line(progress, {}, true);
  line.stop();
  line.stop();
}

TEST(Progress, NoneIsShownWhereThreadsAreRefused) {
  if (!test::can_refuse_threads())
    GTEST_SKIP() << "threads cannot be refused here";
  EXPECT_EQ(test::in_child_without_threads([] {
              Progress progress;
              ProgressLine line(progress, {}, true);
              line.stop();
              return 0;
            }),
            0);
}

} // namespace
} // namespace dnheap::cli
