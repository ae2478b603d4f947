// ProcessClock: the time at which a process was in the state that a snapshot shows, for ages of its objects. A live
// process has the system's clock, and a minidump states its time. A core of Linux does not, and its file's time changes
// when it is copied: then the newest time that any object knows stands for it, so ages are "at least". One walk of the
// heap. Throws Error, Interrupted. Not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"
#include "snapshot/snapshot.h"

#include <array>

namespace dnheap {

class ProcessClock {
public:
  // Clocks that objects have their times from. ticks: milliseconds since the system's start (Environment.TickCount64);
  // stopwatch: the same in units of its own (Stopwatch.GetTimestamp); utc: units of 100 ns since the year 1
  // (DateTime.Ticks).
  enum class Clock : u8 { ticks, stopwatch, utc };

  explicit ProcessClock(const Snapshot &snapshot);

  // Takes note of a time at which the process was still running. Ignores what cannot be one, for example 0.
  void saw(Clock clock, u64 time);
  // Returns the milliseconds since that time; nullopt if it cannot be a time of the process, or the clock is unknown.
  std::optional<u64> since(Clock clock, u64 time) const;
  // Returns the present on the clock, in milliseconds; nullopt: unknown.
  std::optional<u64> now(Clock clock) const;
  // True if the present may be later than now(), and ages greater.
  bool is_at_least(Clock clock) const { return !clocks_[index(clock)].is_known; }
  // Says, for a note below a table, what ages refer to: "Age: up to …".
  std::string note(Clock clock) const;

private:
  struct Present {
    u64 ms = 0; // 0: unknown
    bool is_known = false;
  };
  static u64 index(Clock clock) { return static_cast<u64>(clock); }
  // Returns 0 for what cannot be a time.
  u64 milliseconds(Clock clock, u64 time) const;
  void saw_milliseconds(Clock clock, u64 ms);
  void take_target();
  void read(FieldReader &fields, Address object, const std::string &type);
  void read_date(FieldReader &fields, Address text);
  void read_server(FieldReader &fields, Address timeout_control);

  const Snapshot &snapshot_;
  const bool is_linux_;
  u64 stopwatch_per_second_ = 0; // 0: unknown
  std::array<Present, 3> clocks_;
};

// "at least 95 s", "95 s": in seconds if it is more than one.
std::string age_text(u64 ms, bool is_at_least);

} // namespace dnheap
