// Timers: those in the runtime's queue, whatever class made them, in groups of equal timers. A walk of the heap, and a
// pass over its references for the fields that hold them. Throws Interrupted. Not for several threads at once.
#pragma once
#include "analysis/shapes/queued_timer.h"
#include "snapshot/snapshot.h"

#include <map>
#include <string>

namespace dnheap {

class ProcessClock;

struct TimerKey {
  std::string kind, callback, target_type, state_type; // kind: "Timer", "Task.Delay", …
  u32 period;
  bool is_active;
  std::string held_by; // a field, as HoldingFields names it
  auto operator<=>(const TimerKey &) const = default;
};
struct TimerGroup {
  static constexpr u32 never = 0xffffffff; // Timeout.UnsignedInfinite
  u64 count = 0;
  u32 due_least = never, due_most = 0; // ms
  // Of the active ones: how long ago one was started, or fired last, and by how much one is late. ms; nullopt: unknown.
  std::optional<u64> age_most = {}, overdue_most = {};
  Address example = 0;
};
using TimerGroups = std::map<TimerKey, TimerGroup>;

// `unknown`: how many have other fields than they should have. `clock`: null: ages are not wanted.
TimerGroups find_timers(const Snapshot &snapshot, u64 &unknown, const ProcessClock *clock = nullptr);

} // namespace dnheap
