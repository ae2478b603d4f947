// Lookout: looks at a process regularly, and takes a core when a condition has become true: one at a time, and no more
// than allowed. The process and the clock are passed in, so that tests can use their own; a real process is
// lookout/running_process.h. Not for several threads at once. Its memory does not grow with time.
#pragma once
#include "lookout/alarms.h"
#include "lookout/event.h"
#include "lookout/kept_cores.h"

#include <functional>

namespace dnheap {

struct TakenCore {
  u64 file_bytes = 0;
  std::optional<double> pause_seconds; // how long the process stood still
  std::string by_port = {};            // why the process wrote a dump of itself instead; empty: it was read
};

class WatchedProcess {
public:
  virtual ~WatchedProcess() = default;
  virtual u64 pid() const = 0;
  virtual std::string runtime() const = 0;
  virtual bool has_ended() const = 0;
  virtual Figures look() = 0;
  virtual std::string problem() const = 0; // why the last look did not read everything
  // Says why the process may not be read, and so is asked for dumps; empty: it may.
  virtual std::string forbidden() const { return {}; }
  // Writes a core to that path. Throws Error, and Interrupted.
  virtual TakenCore take(const std::string &path) = 0;
};

struct LookoutClock {
  std::function<u64()> utc;          // seconds since 1970
  std::function<double()> now;       // seconds, of a clock that only goes forward
  std::function<void(double)> sleep; // throws Interrupted on cancellation
};

struct LookoutOptions {
  std::vector<Condition> conditions;
  u64 every = 60, again = 0; // seconds; again: 0 = never
  std::function<void(const Event &)> tell;
};

class Lookout {
public:
  Lookout(const LookoutOptions &options, const LookoutClock &clock, const KeptCores &cores);

  // Watches until the process has ended. Throws UsageError if a condition can never be measured for it, and
  // Interrupted.
  void watch(WatchedProcess &process);

private:
  void check(const Figures &first, const std::string &forbidden) const;
  std::vector<Level> levels_of(const Figures &figures) const;
  std::vector<std::string> texts(const std::vector<u64> &conditions) const;
  Event event(Event::Kind kind, u64 pid) const;
  // Returns the due conditions that a second look confirms; its figures replace the first ones.
  std::vector<u64> confirmed(std::vector<u64> due, WatchedProcess &process, Figures &figures) const;
  void note_blindness(const std::vector<Level> &levels, const WatchedProcess &process);
  // Takes a core; returns true if that worked.
  bool take(WatchedProcess &process, Event event);

  const LookoutOptions &options_;
  const LookoutClock &clock_;
  const KeptCores &cores_;
  u64 blind_looks_ = 0, taken_ = 0;
};

} // namespace dnheap
