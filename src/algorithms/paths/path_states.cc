#include "algorithms/paths/path_states.h"

#include "algorithms/paths/path_folding.h"

#include <algorithm>

namespace dnheap {
namespace {

u64 mix(u64 hash, u64 value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

} // namespace

u64 PathStates::Hash::operator()(const State &state) const {
  return mix(mix(state.before, static_cast<u64>(state.kind) << 8 | state.turn), state.value);
}

u64 PathStates::Hash::operator()(const Unit &unit) const {
  u64 hash = unit.size;
  for (u32 label : unit.labels)
    hash = mix(hash, label);
  return hash;
}

PathState PathStates::find(State state) {
  if (state.steps > most_folded_steps)
    return no_state;
  auto at = known_.find(state);
  if (at != known_.end())
    return at->second;
  if (states_.size() >= most_) {
    is_full_ = true;
    return no_state;
  }
  PathState fresh = static_cast<PathState>(states_.size());
  states_.push_back(state);
  known_.emplace(state, fresh);
  return fresh;
}

PathState PathStates::begin(u32 owner) { return find({.kind = Kind::owner, .value = owner}); }

// Appends a label that belongs to no open repeat. Two equal sequences at the end become a repeat.
PathStates::Move PathStates::append(PathState before, u32 label) {
  std::array<u32, 2 * longest_period> last{label}; // newest first
  std::array<PathState, 2 * longest_period> below{before};
  u32 count = 1;
  for (PathState at = before; count < last.size() && states_[at].kind == Kind::label && states_[at].turn == 0;
       at = states_[at].before) {
    last[count] = states_[at].value;
    below[count++] = states_[at].before;
  }
  for (u32 period = 1; 2 * period <= count; ++period) {
    if (!std::equal(last.begin(), last.begin() + period, last.begin() + period))
      continue;
    Unit unit{.size = static_cast<u8>(period)};
    std::reverse_copy(last.begin(), last.begin() + period, unit.labels.begin());
    auto [at, is_new] = known_units_.emplace(unit, static_cast<u32>(units_.size()));
    if (is_new)
      units_.push_back(unit);
    PathState base = below[2 * period - 1];
    return {find({.before = base, .kind = Kind::repeat, .value = at->second, .steps = states_[base].steps + 1}),
            Count::two};
  }
  return {find({.before = before, .kind = Kind::label, .value = label, .steps = states_[before].steps + 1}),
          Count::as_before};
}

PathStates::Move PathStates::work_out(PathState from, u32 label) {
  const State here = states_[from];
  if (!is_open(from))
    return append(from, label);
  PathState repeat = here.turn > 0 ? here.before : from;
  const Unit unit = units_[states_[repeat].value];
  if (unit.labels[here.turn] == label) {
    if (here.turn + 1 == unit.size)
      return {repeat, Count::one_more};
    return {find({.before = repeat,
                  .kind = Kind::label,
                  .turn = static_cast<u8>(here.turn + 1),
                  .value = label,
                  .steps = states_[repeat].steps + here.turn + 1}),
            Count::as_before};
  }
  PathState finished = finish(from);
  if (finished == no_state)
    return {};
  Move move = append(finished, label);
  move.count = move.count == Count::two ? Count::closed_then_two : Count::closed;
  return move;
}

PathStates::Move PathStates::move(PathState from, u32 label) {
  if (from == no_state)
    return {};
  u64 key = u64{from} << 32 | label;
  if (key == last_key_)
    return last_move_;
  last_key_ = key;
  auto at = moves_.find(key);
  if (at != moves_.end())
    return last_move_ = at->second;
  last_move_ = work_out(from, label);
  if (moves_.size() < 4 * u64{most_})
    moves_.emplace(key, last_move_);
  else
    is_full_ = true;
  return last_move_;
}

// An unfinished turn contains no squares, since its unit contains none, so appending its labels folds nothing.
PathState PathStates::finish(PathState state) {
  if (state == no_state || states_[state].turn == 0)
    return state;
  u8 turn = states_[state].turn;
  PathState at = states_[state].before;
  const Unit unit = units_[states_[at].value];
  for (u8 i = 0; i < turn && at != no_state; ++i)
    at = append(at, unit.labels[i]).to;
  return at;
}

PathState PathStates::root(PathState state) const {
  while (states_[state].kind != Kind::owner)
    state = states_[state].before;
  return state;
}

std::vector<PathStates::Step> PathStates::steps(PathState state) const {
  std::vector<Step> out;
  for (; states_[state].kind != Kind::owner; state = states_[state].before) {
    const State &here = states_[state];
    if (here.kind == Kind::repeat)
      out.push_back({units_[here.value], true});
    else
      out.push_back({{.labels = {here.value}, .size = 1}, false});
  }
  std::reverse(out.begin(), out.end());
  return out;
}

} // namespace dnheap
