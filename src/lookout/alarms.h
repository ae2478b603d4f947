// Alarms: decides for which conditions a core must be taken now. A condition that becomes true causes one core. It can
// cause another one after it was false meanwhile, or, if it stays true, after some time. Times are seconds of any clock
// that only goes forward. Costs nothing.
#pragma once
#include "lookout/condition.h"

#include <span>

namespace dnheap {

class Alarms {
public:
  // `again`: seconds after which a condition that stays true causes another core; 0: never. `after_failure`: seconds
  // until the next attempt.
  Alarms(u64 count, double again, double after_failure)
      : states_(count), again_(again), after_failure_(after_failure) {}

  // Returns the indices of the conditions for which a core is to be taken now.
  std::vector<u64> due(std::span<const Level> levels, double now);
  // Call taken() after a core was taken: the core counts for all conditions that are true. Call failed() after no core
  // could be taken.
  void taken(std::span<const Level> levels, double now);
  void failed(double now);

private:
  struct State {
    std::optional<double> taken; // when a core was taken for it; nullopt: none since it was false
  };
  std::vector<State> states_;
  double again_, after_failure_;
  std::optional<double> not_before_;
};

} // namespace dnheap
