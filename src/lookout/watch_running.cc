#include "lookout/watch_running.h"

#include "analysis/process/dotnet_process.h"
#include "base/host/file_time.h"
#include "base/process/process.h"
#include "base/text.h"
#include "lookout/running_process.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace dnheap {

namespace {

// Sleeps in pieces, since a signal does not reliably end a longer sleep.
LookoutClock clock_of(const Watch &watch) {
  using Clock = std::chrono::steady_clock;
  auto now = [] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); };
  return {.utc = seconds_now, .now = now, .sleep = [watch, now](double seconds) {
            constexpr double piece = 0.25;
            for (const double end = now() + seconds; now() < end;) {
              watch.check();
              std::this_thread::sleep_for(std::chrono::duration<double>(std::min(piece, end - now())));
            }
            watch.check();
          }};
}

// Returns the one running .NET process that has a heap; null, with the reason in `why`, if there is none.
std::unique_ptr<RunningProcess> find_process(const WatchWords &words, std::string &why) {
  std::vector<u64> refused;
  const std::vector<u64> found = dotnet_processes(refused);
  if (found.size() > 1) {
    std::string ids;
    for (const u64 pid : found)
      ids += (ids.empty() ? "" : ", ") + std::to_string(pid);
    throw UsageError("several .NET processes run here: " + ids + "; say which with -p PID");
  }
  if (found.empty()) {
    if (!refused.empty())
      why = count_text(refused.size()) + (refused.size() == 1 ? " process" : " processes") +
            " could not be looked at, such as " + std::to_string(refused[0]) + ": " + what_forbids_reading(refused[0]);
    return nullptr;
  }
  try {
    return std::make_unique<RunningProcess>(found[0], words.open, words.no_values, words.folder);
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) { // it may have just begun
    why = error.what();
    return nullptr;
  }
}

// A process that has just begun may have no runtime yet, so it is tried again.
std::unique_ptr<RunningProcess> open_process(const WatchWords &words, const LookoutClock &clock) {
  constexpr double young = 10, pause = 0.5; // seconds
  for (;; clock.sleep(pause)) {
    try {
      return std::make_unique<RunningProcess>(*words.pid, words.open, words.no_values, words.folder);
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &) {
      if (process_age(*words.pid).value_or(young) >= young)
        throw;
    }
  }
}

std::unique_ptr<RunningProcess> wait_for_process(const WatchWords &words, const LookoutOptions &options,
                                                 const LookoutClock &clock) {
  std::optional<std::string> told;
  for (;; clock.sleep(static_cast<double>(options.every))) {
    std::string why;
    if (std::unique_ptr<RunningProcess> out = find_process(words, why))
      return out;
    if (told != why) {
      Event waiting;
      waiting.time = clock.utc();
      waiting.reason = why;
      options.tell(waiting);
    }
    told = why;
  }
}

} // namespace

bool watch_running(const WatchWords &words, const LookoutOptions &options) {
  const KeptCores cores(words.folder, words.keep);
  const LookoutClock clock = clock_of(words.open.watch);
  try {
    if (words.pid) {
      Lookout(options, clock, cores).watch(*open_process(words, clock));
      return true;
    }
    for (;;)
      Lookout(options, clock, cores).watch(*wait_for_process(words, options, clock));
  } catch (const Interrupted &) {
    return false;
  }
}

} // namespace dnheap
