// Alarms: for which of some conditions a core is due: each once, until it was false again. Times are seconds of any
// clock that only goes forward. Costs nothing.
#pragma once
#include "lookout/condition.h"

#include <span>

namespace dnheap {

class Alarms {
public:
  // `again`: a condition that stays true is due again after so long; 0: never. `after_failure`: how long to wait with
  // the next try.
  Alarms(u64 count, double again, double after_failure)
      : states_(count), again_(again), after_failure_(after_failure) {}

  // Indices of the conditions for which a core is to be taken now.
  std::vector<u64> due(std::span<const Level> levels, double now);
  // It was taken: for all that are true. Or could not be.
  void taken(std::span<const Level> levels, double now);
  void failed(double now);

private:
  struct State {
    std::optional<double> taken; // nullopt: it was false since
  };
  std::vector<State> states_;
  double again_, after_failure_;
  std::optional<double> not_before_;
};

} // namespace dnheap
