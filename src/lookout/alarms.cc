#include "lookout/alarms.h"

namespace dnheap {

std::vector<u64> Alarms::due(std::span<const Level> levels, double now) {
  std::vector<u64> out;
  for (u64 i = 0; i < states_.size(); ++i) {
    State &state = states_[i];
    if (levels[i] == Level::below)
      state.taken.reset();
    if (levels[i] == Level::above && (!state.taken || (again_ > 0 && now - *state.taken >= again_)))
      out.push_back(i);
  }
  if (not_before_ && now < *not_before_)
    out.clear();
  return out;
}

void Alarms::taken(std::span<const Level> levels, double now) {
  for (u64 i = 0; i < states_.size(); ++i)
    if (levels[i] == Level::above)
      states_[i].taken = now;
  not_before_.reset();
}

void Alarms::failed(double now) { not_before_ = now + after_failure_; }

} // namespace dnheap
