// Alarms: decides for which conditions a core is due: each once, until it was false again. Times are seconds of any
// clock that only goes forward. Costs nothing.
#pragma once
#include "lookout/condition.h"

#include <span>

namespace dnheap {

class Alarms {
public:
  // `again`: seconds after which a condition that stays true is due again; 0: never. `after_failure`: seconds until the
  // next attempt.
  Alarms(u64 count, double again, double after_failure)
      : states_(count), again_(again), after_failure_(after_failure) {}

  // Returns the indices of the conditions for which a core is to be taken now.
  std::vector<u64> due(std::span<const Level> levels, double now);
  // To be called after a core was taken: it counts for all conditions that are true. failed(): after one could not be
  // taken.
  void taken(std::span<const Level> levels, double now);
  void failed(double now);

private:
  struct State {
    std::optional<double> taken; // nullopt: it was false since then
  };
  std::vector<State> states_;
  double again_, after_failure_;
  std::optional<double> not_before_;
};

} // namespace dnheap
