// The present of a process: of a dump that states its time, of a live process, and of a core, by the newest time that
// its objects know; times that cannot be any are ignored.
#include "analysis/shapes/process_clock.h"
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Clock = ProcessClock::Clock;

constexpr u64 ms_of_1970 = 62'135'596'800'000;
constexpr u64 seconds_of_date = 1'795'988'095; // Sun, 29 Nov 2026 21:34:55 GMT

// As in System.Threading and Kestrel.
struct Timed : LibraryHeap {
  explicit Timed(const HeapShape &shape = {}) : LibraryHeap(shape) {
    const char *kestrel = "Microsoft.AspNetCore.Server.Kestrel.Core.Internal";
    queue = type("System.Threading", "TimerQueue", 0, 4, {"%_currentTimerStartTicks"});
    const u32 rid = heap.app().metadata.type("System", "TimeProvider");
    provider = nested(rid, "SystemTimeProvider", 3, {"_none"});
    control = type((std::string(kestrel) + ".Infrastructure").c_str(), "TimeoutControl", 0, 7,
                   {"_timeProvider", "%_heartbeatIntervalTicks", "%_lastTimestamp"});
    header = type((std::string(kestrel) + ".Http").c_str(), "DateHeaderValueManager", 0, 3, {"_dateValues"});
    values = type(kestrel, "DateHeaderValues", 0, 3, {"String"});
    with(queue, {4'000'000});
  }
  // Of .NET's own clock, 32-bit heaps have narrower words.
  void server(u64 per_second, u64 last) {
    const Address at = old.object(control);
    old.store(at + p, with(provider, {0}), p);
    old.store(at + 2 * p, per_second, 8);
    old.store(at + 3 * p, last, 8);
  }
  void date(const char *text) { with(header, {with(values, {old.string(text)})}); }
  // Calls the function with the clock of a process like that, as `taken` says.
  template <class Function> void read(std::optional<TakenAt> taken, Function &&function) {
    std::unique_ptr<Target> target = heap.target();
    target->taken = taken;
    Snapshot snapshot(std::move(target), {});
    function(ProcessClock(snapshot));
  }
  Address queue = 0, provider = 0, control = 0, header = 0, values = 0;
};

TEST(ProcessClock, OfACoreIsTheNewestTime) {
  Timed s;
  s.server(1'000'000'000, 5'000'000'000'000'000);
  s.date("Sun, 29 Nov 2026 21:34:55 GMT");
  s.read(TakenAt{1, TakenAt::Clock::file}, [](ProcessClock clock) {
    EXPECT_EQ(clock.now(Clock::ticks), 5'000'000'000u); // one clock with the stopwatch
    EXPECT_EQ(clock.now(Clock::stopwatch), 5'000'000'000u);
    EXPECT_EQ(clock.now(Clock::utc), ms_of_1970 + seconds_of_date * 1000);
    EXPECT_EQ(clock.since(Clock::ticks, 4'999'999'000), 1000u);
    EXPECT_EQ(clock.since(Clock::ticks, 5'000'000'001), 0u); // later than what is known
    EXPECT_EQ(clock.since(Clock::ticks, 0), std::nullopt);
    EXPECT_EQ(clock.since(Clock::utc, 1), std::nullopt);
    EXPECT_TRUE(clock.is_at_least(Clock::ticks) && clock.is_at_least(Clock::utc));
    clock.saw(Clock::ticks, 5'000'000'777);
    EXPECT_EQ(clock.now(Clock::stopwatch), 5'000'000'777u);
  });
}

TEST(ProcessClock, OfADumpThatStatesItsTime) {
  Timed s;
  s.read(TakenAt{seconds_of_date, TakenAt::Clock::dump}, [](const ProcessClock &clock) {
    EXPECT_EQ(clock.now(Clock::utc), ms_of_1970 + seconds_of_date * 1000);
    EXPECT_FALSE(clock.is_at_least(Clock::utc));
    EXPECT_EQ(clock.now(Clock::ticks), 4'000'000u);
    EXPECT_TRUE(clock.is_at_least(Clock::ticks));
    // As DateTime has it: its kind above, units of 100 ns.
    const u64 ten_seconds_ago = (ms_of_1970 + seconds_of_date * 1000 - 10'000) * 10'000 | u64{1} << 62;
    EXPECT_EQ(clock.since(Clock::utc, ten_seconds_ago), 10'000u);
  });
}

TEST(ProcessClock, OfALiveProcess) {
  Timed s;
  s.read(TakenAt{seconds_of_date, TakenAt::Clock::now, 4'030'000}, [](const ProcessClock &clock) {
    EXPECT_EQ(clock.now(Clock::ticks), 4'030'000u);
    EXPECT_EQ(clock.since(Clock::ticks, 4'000'000), 30'000u);
    EXPECT_EQ(clock.since(Clock::stopwatch, 4'000'000'000'000), 30'000u);
    EXPECT_FALSE(clock.is_at_least(Clock::ticks) || clock.is_at_least(Clock::stopwatch));
    EXPECT_EQ(clock.note(Clock::ticks), "until now");
  });
}

TEST(ProcessClock, WhatCannotBeATimeIsIgnored) {
  for (const char *text :
       {"Sun, 29 Nov 2026 21:34:5 GMT", "Sun, 29 nov 2026 21:34:55 GMT", "Sun, 31 Nov 2026 21:34:55 GMT",
        "Sun, 29 Nov 1026 21:34:55 GMT", "Sun, 29 Nov 2026 25:34:55 GMT", "Sun, 29 ovD 2026 21:34:55 GMT", "",
        "Sun, 2x Nov 2026 21:34:55 GMT"}) {
    SCOPED_TRACE(text);
    Timed s;
    s.date(text);
    s.server(0, ~u64{0});
    s.read(std::nullopt, [](const ProcessClock &clock) {
      EXPECT_EQ(clock.now(Clock::utc), std::nullopt);
      EXPECT_EQ(clock.now(Clock::ticks), 4'000'000u);
      EXPECT_EQ(clock.since(Clock::utc, (ms_of_1970 + 1000) * 10'000), std::nullopt);
    });
  }
}

TEST(ProcessClock, AgesInWords) {
  EXPECT_EQ(age_text(0, false), "0 ms");
  EXPECT_EQ(age_text(999, false), "999 ms");
  EXPECT_EQ(age_text(95'999, true), "at least 95 s");
  EXPECT_EQ(age_text(150'000, false), "2.5 min");
  EXPECT_EQ(milliseconds_text(95'320), "95.32 s");
}

} // namespace
} // namespace dnheap::test
