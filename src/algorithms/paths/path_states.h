// PathStates: the state machine that folds sequences of labels (see path_folding.h). A state stands for all sequences
// that differ only in how often their repeats are repeated. The last repeat may be open, in the middle of its next
// turn. States share their prefixes. Not for several threads at once.
#pragma once
#include "base/integers.h"

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

namespace dnheap {

using PathState = u32;
inline constexpr PathState no_state = 0; // also used for paths beyond the bounds and for all moves from there

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
  // How a label changes the number of turns seen of the open repeat.
  enum class Count : u8 { as_before, one_more, closed, two, closed_then_two };
  struct Move {
    PathState to = no_state;
    Count count = Count::as_before;
  };

  // Has at most so many states.
  explicit PathStates(u32 most) : most_(most), states_(1) {}
  PathState begin(u32 owner);
  Move move(PathState from, u32 label);
  // Returns where move() led from there; no_state if it was never called. Makes no state.
  PathState known_move(PathState from, u32 label) const {
    auto at = moves_.find(u64{from} << 32 | label);
    return at == moves_.end() ? no_state : at->second.to;
  }
  // Ends the sequence: the labels of an unfinished turn become steps of their own.
  PathState finish(PathState state);
  // True if the state ends in an open repeat, which has a count.
  bool is_open(PathState state) const { return states_[state].kind == Kind::repeat || states_[state].turn > 0; }
  // True if a bound on memory was met: from then on, what has a state depends on the order of the calls.
  bool is_full() const { return is_full_; }
  PathState root(PathState state) const; // the state of its beginning
  u32 owner(PathState state) const { return states_[root(state)].value; }
  std::vector<Step> steps(PathState state) const; // `state` must be finished

private:
  enum class Kind : u8 { owner, label, repeat };
  struct State {
    PathState before = no_state;
    Kind kind = Kind::owner;
    u8 turn = 0;   // number of labels seen of the next turn of `before`, a repeat
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

  const u32 most_;
  std::vector<State> states_; // [no_state] is not used
  bool is_full_ = false;
  std::vector<Unit> units_;
  std::unordered_map<State, PathState, Hash> known_;
  std::unordered_map<Unit, u32, Hash> known_units_;
  std::unordered_map<u64, Move> moves_; // by state and label
  // The last move, cached as neighbours make the same one. 0 is not a key, as moves never start at no_state.
  u64 last_key_ = 0;
  Move last_move_;
};

} // namespace dnheap
