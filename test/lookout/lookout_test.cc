// The loop, with a process and a clock of the test's own: what is told when, and what becomes of failures.
#include "base/error.h"
#include "lookout/lookout.h"
#include "support/run.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dnheap {
namespace {

constexpr u64 gib = u64{1} << 30;

// Shows one figure of `rss` in each minute, and ends behind the last.
class Script : public WatchedProcess {
public:
  Script(std::vector<double> gibs, double &now, const test::TemporaryFolder &folder)
      : gibs_(std::move(gibs)), now_(now), folder_(folder) {}

  u64 pid() const override { return 4711; }
  std::string runtime() const override { return ".NET 10.0.14"; }
  bool has_ended() const override { return minute() >= gibs_.size(); }
  Figures look() override {
    Figures out;
    if (!has_ended() && gibs_[minute()] > 0)
      out.set(Figure::rss, static_cast<u64>(gibs_[minute()] * gib));
    if (looks++ == wrong_look)
      out.set(Figure::rss, 100 * gib);
    out.limit = limit;
    return out;
  }
  std::string problem() const override { return "it is dark"; }
  TakenCore take(const std::string &path) override {
    if (failures) {
      --failures;
      throw Error("the disk is full");
    }
    folder_.write(path.substr(folder_.path().size() + 1), "a core");
    now_ += taking;
    if (!forbidden_text.empty())
      return {6, std::nullopt, forbidden_text};
    return {6, 0.25};
  }
  std::string forbidden() const override { return forbidden_text; }

  double taking = 0; // seconds
  std::string forbidden_text;
  u64 looks = 0, wrong_look = ~u64{0}, failures = 0;
  std::optional<u64> limit;

private:
  u64 minute() const { return static_cast<u64>(now_ / 60); }

  std::vector<double> gibs_;
  double &now_;
  const test::TemporaryFolder &folder_;
};

class LookoutTest : public testing::Test {
protected:
  test::TemporaryFolder folder;
  std::vector<Event> events;
  double now = 0;
  LookoutOptions options{.conditions = parse_conditions("rss>1.5G"),
                         .every = 60,
                         .again = 0,
                         .tell = [this](const Event &event) { events.push_back(event); }};
  LookoutClock clock{.utc = [this] { return 1764036607 + static_cast<u64>(now); },
                     .now = [this] { return now; },
                     .sleep = [this](double seconds) { now += seconds; }};

  Script of(std::vector<double> gibs) { return Script(std::move(gibs), now, folder); }
  void watch(Script &script, u64 keep = 3) {
    const KeptCores cores(folder.path(), keep);
    Lookout(options, clock, cores).watch(script);
  }
  // Kind and minute of each.
  std::string told() const {
    std::string out;
    for (const Event &event : events)
      out += std::string(out.empty() ? "" : " ") + name_of(event.kind) + "@" +
             std::to_string((event.time - 1764036607) / 60);
    return out;
  }
};

// A process that writes dumps of itself, since it may not be read.
TEST_F(LookoutTest, ByThePort) {
  Script script = of({1, 1.6});
  script.forbidden_text = "process 4711 may not be read: a profile forbids it";
  watch(script);
  EXPECT_EQ(told(), "began@0 taken@1 ended@2");
  const std::string how = "; by its diagnostics port, as process 4711 may not be read: a profile forbids it";
  EXPECT_TRUE(text_of(events[0]).ends_with("a core when rss>1.5G" + how)) << text_of(events[0]);
  EXPECT_TRUE(text_of(events[1]).ends_with(", 6 B" + how)) << text_of(events[1]);
  const nlohmann::json taken = nlohmann::json::parse(json_of(events[1]));
  EXPECT_EQ(taken["by_port"], script.forbidden_text);
  EXPECT_TRUE(taken["paused_ms"].is_null());
  EXPECT_FALSE(taken.contains("reason"));
}

TEST_F(LookoutTest, WhatNeedsTheRightToReadIsRefused) {
  Script script = of({1, 1.6});
  script.forbidden_text = "process 4711 may not be read: a profile forbids it";
  options.conditions = parse_conditions("gen2>800M");
  EXPECT_THROW(watch(script), UsageError);
  script.forbidden_text.clear();
  watch(script);
}

// The time that a core takes is a part of the interval.
TEST_F(LookoutTest, LooksComeAtTheSameDistanceWhateverACoreTakes) {
  Script script = of({1, 1.6, 1.6, 1.6, 1.6});
  script.taking = 45;
  watch(script);
  EXPECT_EQ(told(), "began@0 taken@1 ended@5");
  EXPECT_EQ(now, 5 * 60);
  EXPECT_EQ(script.looks, 7u) << "one in each minute, one that confirms, and the one that finds the end";
}

TEST_F(LookoutTest, TakesACoreWhenItBecomesTrue) {
  Script script = of({1, 1.6, 1.7, 1.49, 1.6, 1.2, 1.6});
  watch(script);
  EXPECT_EQ(told(), "began@0 taken@1 taken@6 ended@7") << "1.49 is not low enough to count as false again";
  EXPECT_EQ(text_of(events[1]), "2025-11-25T02:11:07Z rss>1.5G: rss 1.6 GiB; " +
                                    folder.path("watch-20251125T021107Z-4711.core.zst") +
                                    ", 6 B, the process stood still for 250 ms");
  EXPECT_EQ(text_of(events[0]), "2025-11-25T02:10:07Z process 4711 (.NET 10.0.14): rss 1.0 GiB; a core when rss>1.5G");
  EXPECT_EQ(text_of(events[3]), "2025-11-25T02:17:07Z process 4711 has ended; 2 cores were written");
}

TEST_F(LookoutTest, KeepsNoMoreThanItMay) {
  options.again = 60;
  Script script = of({2, 2, 2, 2});
  watch(script, 2);
  EXPECT_EQ(told(), "began@0 taken@0 taken@1 taken@2 taken@3 ended@4");
  EXPECT_EQ(events[3].removed, std::vector{events[1].file});
  EXPECT_EQ(events[4].removed, std::vector{events[2].file});
  EXPECT_TRUE(text_of(events[4]).ends_with("; removed " + events[2].file));
}

TEST_F(LookoutTest, AFailureIsToldAndTriedAgainLater) {
  Script script = of(std::vector<double>(15, 2));
  script.failures = 1;
  watch(script);
  EXPECT_EQ(told(), "began@0 not_taken@0 taken@10 ended@15");
  EXPECT_TRUE(text_of(events[1]).ends_with("; no core was taken: the disk is full"));
  EXPECT_EQ(events[1].file, "");
}

TEST_F(LookoutTest, SaysOnceThatAConditionCannotBeTold) {
  Script script = of(std::vector<double>(30, 0));
  watch(script);
  EXPECT_EQ(told(), "began@0 blind@9 ended@30");
  EXPECT_TRUE(text_of(events[1]).ends_with(" rss>1.5G cannot be measured: it is dark"));
}

TEST_F(LookoutTest, AShareOfNoLimitIsRefused) {
  options.conditions = parse_conditions("rss>1G|rss>90%");
  Script script = of({1});
  EXPECT_THROW(watch(script), UsageError);
  events.clear();
  now = 0;
  Script limited = of({1, 1.9});
  limited.limit = 2 * gib;
  watch(limited);
  EXPECT_EQ(told(), "began@0 taken@1 ended@2");
  EXPECT_EQ(events[1].conditions, (std::vector<std::string>{"rss>1G", "rss>90%"}));
}

TEST_F(LookoutTest, AFigureThatASecondLookDoesNotConfirmIsNone) {
  Script script = of({1, 1, 1, 2});
  script.wrong_look = 1;
  watch(script);
  EXPECT_EQ(told(), "began@0 taken@3 ended@4");
}

TEST_F(LookoutTest, ItCanBeEnded) {
  clock.sleep = [](double) { throw Interrupted(); };
  Script script = of({1, 1});
  EXPECT_THROW(watch(script), Interrupted);
  EXPECT_EQ(told(), "began@0");
}

TEST_F(LookoutTest, EventsAreJsonToo) {
  options.again = 60;
  Script script = of({2, 2});
  watch(script, 1);
  for (const Event &event : events) {
    const nlohmann::json json = nlohmann::json::parse(json_of(event));
    EXPECT_EQ(json["schema"], "dnheap-watch/1");
    EXPECT_EQ(json["event"], name_of(event.kind));
    EXPECT_EQ(json["pid"], 4711);
  }
  const nlohmann::json taken = nlohmann::json::parse(json_of(events[2]));
  EXPECT_EQ(taken["figures"]["rss"], 2 * gib);
  EXPECT_EQ(taken["figures"]["gen2"], nullptr);
  EXPECT_EQ(taken["paused_ms"], 250);
  EXPECT_EQ(taken["removed"], nlohmann::json::array({events[1].file}));
}

} // namespace
} // namespace dnheap
