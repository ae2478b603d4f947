// PathStates: the machine that folds sequences of labels (see path_folding.h). A state stands for all sequences that
// are the same but for how often their repeats repeat; the last repeat may be open, in the midst of its next turn.
// States share their beginnings. For one thread.
#pragma once
#include "base/integers.h"

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

namespace dnheap {

using PathState = u32;
inline constexpr PathState no_state = 0; // also: beyond the bounds, and all that follows from there

class PathStates {
public:
  static constexpr u32 longest_period = 4;

  struct Unit {
    std::array<u32, longest_period> labels{};
    u8 size = 0;
    bool operator==(const Unit &) const = default;
  };
  struct Step {
    Unit unit;
    bool repeats;
    bool operator==(const Step &) const = default;
  };
  // What a label does to how often the open repeat has been seen.
  enum class Count : u8 { as_before, one_more, closed, two, closed_then_two };
  struct Move {
    PathState to = no_state;
    Count count = Count::as_before;
  };

  PathStates() : states_(1) {}
  PathState begin(u32 owner);
  Move move(PathState from, u32 label);
  // Where move() led from there; no_state: it was never asked. Makes no state.
  PathState known_move(PathState from, u32 label) const {
    auto at = moves_.find(u64{from} << 32 | label);
    return at == moves_.end() ? no_state : at->second.to;
  }
  // No sequence goes on from here: the labels of an unfinished turn are steps of their own.
  PathState finish(PathState state);
  // An open repeat has a count.
  bool is_open(PathState state) const { return states_[state].kind == Kind::repeat || states_[state].turn > 0; }
  PathState root(PathState state) const; // where it began
  u32 owner(PathState state) const { return states_[root(state)].value; }
  std::vector<Step> steps(PathState state) const; // of a finished state

private:
  enum class Kind : u8 { owner, label, repeat };
  struct State {
    PathState before = no_state;
    Kind kind = Kind::owner;
    u8 turn = 0;   // labels seen of the next turn of `before`, a repeat
    u32 value = 0; // label, or index of the unit
    u32 steps = 0;
    bool operator==(const State &) const = default;
  };
  struct Hash {
    u64 operator()(const State &state) const;
    u64 operator()(const Unit &unit) const;
  };
  PathState find(State state);
  Move append(PathState before, u32 label);
  Move work_out(PathState from, u32 label);

  std::vector<State> states_; // [no_state] is not used
  std::vector<Unit> units_;
  std::unordered_map<State, PathState, Hash> known_;
  std::unordered_map<Unit, u32, Hash> known_units_;
  std::unordered_map<u64, Move> moves_; // by state and label
  u64 last_key_ = 0; // the move made last: neighbours make the same; 0 is none's, as from is no_state
  Move last_move_;
};

} // namespace dnheap
