// watch() by way of the public interface: its events as values, how it is ended, and what it refuses.
#include "dnheap/dnheap.h"
#include "support/random_heap.h"
#include "support/run.h"
#include "support/synthetic_process.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(ApiWatch, TellsEventsUntilItIsCancelled) {
  HeapBuilder heap({.net = Net::net10});
  std::mt19937_64 random(5);
  add_random_heap(heap, 5000, random);
  const std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*heap.target());
  if (!process)
    GTEST_SKIP() << "the test program's own memory lies where the process's should: chance";
  const TemporaryFolder folder;
  v0::Progress progress;
  v0::WatchOptions options;
  options.pid = process->pid();
  options.conditions = {"gen2>1T", "rss>1k|oom"};
  options.folder = folder.path();
  options.open.progress = &progress;
  std::vector<v0::WatchEvent> events;
  EXPECT_FALSE(v0::watch(options, [&](const v0::WatchEvent &event) {
    events.push_back(event);
    if (events.size() == 2)
      progress.cancel();
  }));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, "began");
  EXPECT_NE(events[0].text.find("a core when gen2>1T or rss>1k or oom"), std::string::npos) << events[0].text;
  EXPECT_EQ(events[1].kind, "taken");
  EXPECT_TRUE(std::filesystem::exists(events[1].file));
  EXPECT_NE(events[1].json.find("\"conditions\":[\"rss>1k\"]"), std::string::npos) << events[1].json;
  EXPECT_TRUE(process->goes_on());
}

TEST(ApiWatch, RefusesWhatMakesNoSense) {
  const TemporaryFolder folder;
  v0::WatchOptions right;
  right.pid = 1;
  right.conditions = {"oom"};
  right.folder = folder.path();
  auto refuses = [](const v0::WatchOptions &options) {
    EXPECT_THROW(v0::watch(options, [](const v0::WatchEvent &) {}), UsageError);
  };
  for (auto spoil : {+[](v0::WatchOptions &o) { o.conditions.clear(); }, +[](v0::WatchOptions &o) { o.folder.clear(); },
                     +[](v0::WatchOptions &o) { o.keep = 0; }, +[](v0::WatchOptions &o) { o.every = 0; },
                     +[](v0::WatchOptions &o) { o.conditions = {"rss"}; }}) {
    v0::WatchOptions options = right;
    spoil(options);
    refuses(options);
  }
  EXPECT_FALSE(v0::condition_problem("rss>1G|oom"));
  EXPECT_TRUE(v0::condition_problem("rss>1G|"));
}

} // namespace
} // namespace dnheap::test
