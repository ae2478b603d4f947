#include "algorithms/paths/path_folding.h"

#include "algorithms/paths/path_states.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace dnheap {
namespace {

using Count = PathStates::Count;

// A group is merged with the shorter variants of its path only if it has at most this many repeats.
constexpr u64 most_collapsed = 4;

struct Group {
  PathState state;
  std::vector<PathStates::Step> steps;
  std::vector<std::pair<u32, u32>> times; // least and most turns, by repeat
  u64 instances = 0;
  ObjectId example = no_object;
  u32 merged_into = FoldedPaths::none;

  void count(u64 repeat, u32 least, u32 most) {
    times[repeat].first = std::min(times[repeat].first, least);
    times[repeat].second = std::max(times[repeat].second, most);
  }
};

class Folding {
public:
  Folding(const ShortestPaths &found, u64 objects, const PathLabels &labels, const Watch &watch)
      : found_(found), labels_(labels), watch_(watch), state_(objects), run_(objects), closed_at_(objects) {}

  // Returns the group of this instance's path; `none` if the path exceeds the bounds.
  u32 add(ObjectId instance) {
    fold_up_to(instance);
    u32 object = static_cast<u32>(instance);
    PathState last = state_[object] == beyond ? no_state : state_[object];
    PathState state = states_.finish(last);
    if (state == no_state)
      return FoldedPaths::none;
    if (groups.empty() || groups[last_].state != state) // heap neighbours mostly share a group
      last_ = group_of(state);
    Group &group = groups[last_];
    ++group.instances;
    group.example = std::min(group.example, instance);
    u64 repeat = group.times.size();
    if (states_.is_open(last))
      group.count(--repeat, run_[object], run_[object]);
    for (u32 closed = object; repeat > 0;) {
      closed = closed_at_[closed];
      group.count(--repeat, run_[closed], run_[closed]);
    }
    return last_;
  }

  // Merges each group with its shorter variants: the same path with some repeats gone through once or never.
  void merge() {
    std::vector<u32> order(groups.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](u32 a, u32 b) {
      if (groups[a].times.size() != groups[b].times.size())
        return groups[a].times.size() > groups[b].times.size();
      return groups[a].example < groups[b].example;
    });
    for (u32 index : order) {
      u64 repeats = groups[index].times.size();
      if (repeats == 0 || repeats > most_collapsed || groups[index].merged_into != FoldedPaths::none)
        continue;
      watch_.check();
      for (const Shorter &shorter : shorter_ones(groups[index]))
        merge(index, shorter);
    }
  }

  PathStates &states() { return states_; }
  std::vector<Group> groups;

private:
  static constexpr PathState beyond = ~PathState{0};

  u32 group_of(PathState state) {
    auto [at, is_new] = by_state_.try_emplace(state, static_cast<u32>(groups.size()));
    if (is_new) {
      groups.push_back({.state = state, .steps = states_.steps(state), .times = {}});
      Group &group = groups.back();
      auto repeats = std::count_if(group.steps.begin(), group.steps.end(), [](auto &step) { return step.repeats; });
      group.times.assign(static_cast<u64>(repeats), {~u32{0}, 0});
    }
    return at->second;
  }

  // Assigns a state to each object on the path to `instance`, starting after the nearest one that has a state.
  void fold_up_to(ObjectId instance) {
    way_.clear();
    std::optional<ObjectId> at = instance;
    for (; at && state_[static_cast<u32>(*at)] == 0; at = found_.parent(*at))
      way_.push_back(static_cast<u32>(*at));
    for (u64 i = way_.size(); i-- > 0;) {
      if (++steps_ % 0x10000 == 0)
        watch_.check();
      u32 object = way_[i];
      if (std::optional<ObjectId> from = found_.parent(ObjectId{object}))
        take_step(static_cast<u32>(*from), object);
      else
        state_[object] = known(states_.begin(labels_.owner(*found_.owner(ObjectId{object}))));
    }
  }
  void take_step(u32 from, u32 to) {
    if (state_[from] == beyond) {
      state_[to] = beyond;
      return;
    }
    PathStates::Move move = states_.move(state_[from], labels_.step(ObjectId{from}, ObjectId{to}));
    state_[to] = known(move.to);
    bool closed = move.count == Count::closed || move.count == Count::closed_then_two;
    const u32 closed_at = closed ? from : closed_at_[from];
    const u32 run = move.count == Count::two || move.count == Count::closed_then_two ? 2
                    : move.count == Count::one_more                                  ? run_[from] + 1
                                                                                     : run_[from];
    // The entries start as zero. Zeros are not written again, so pages that have nothing else take no memory.
    if (closed_at)
      closed_at_[to] = closed_at;
    if (run)
      run_[to] = run;
  }
  static PathState known(PathState state) { return state == no_state ? beyond : state; }

  // A shorter variant of a group's path. It has a state only if some path led there.
  struct Shorter {
    PathState state;
    std::vector<u32> turns;                      // by repeat: 0, 1, or 2 for two and more
    bool operator<(const Shorter &other) const { // compares the last repeat first; more turns come first
      return std::lexicographical_compare(turns.rbegin(), turns.rend(), other.turns.rbegin(), other.turns.rend(),
                                          std::greater());
    }
  };
  PathState go_on(PathState from, const PathStates::Unit &unit) const {
    for (u8 i = 0; i < unit.size && from != no_state; ++i)
      from = states_.known_move(from, unit.labels[i]);
    return from;
  }
  // Tries only moves that some path has made, so most variants end after a step or two.
  std::vector<Shorter> shorter_ones(const Group &group) const {
    std::vector<Shorter> ways = {{states_.root(group.state), {}}};
    for (const PathStates::Step &step : group.steps) {
      const u64 count = ways.size();
      for (u64 i = 0; i < count; ++i) {
        PathState state = go_on(ways[i].state, step.unit);
        if (step.repeats) {
          std::vector<u32> turns = ways[i].turns;
          ways[i].turns.push_back(0);
          for (u32 turn = 1; turn <= 2 && state != no_state; ++turn, state = go_on(state, step.unit)) {
            ways.push_back({state, turns});
            ways.back().turns.push_back(turn);
          }
        } else {
          ways[i].state = state;
        }
      }
      std::erase_if(ways, [](const Shorter &way) { return way.state == no_state; });
    }
    std::erase_if(ways, [](const Shorter &way) { // remove the group itself
      return std::all_of(way.turns.begin(), way.turns.end(), [](u32 turns) { return turns == 2; });
    });
    std::sort(ways.begin(), ways.end());
    return ways;
  }
  void merge(u32 index, const Shorter &shorter) {
    const std::vector<u32> &turns = shorter.turns;
    auto at = by_state_.find(states_.finish(shorter.state));
    if (at == by_state_.end() || at->second == index || groups[at->second].merged_into != FoldedPaths::none)
      return;
    Group &into = groups[index], &from = groups[at->second];
    if (!same_steps(into, from, turns))
      return;
    from.merged_into = index;
    into.instances += from.instances;
    into.example = std::min(into.example, from.example);
    for (u64 i = 0, j = 0; i < turns.size(); ++i) {
      if (turns[i] < 2)
        into.count(i, turns[i], turns[i]);
      else {
        into.count(i, from.times[j].first, from.times[j].second);
        ++j;
      }
    }
  }
  // Returns false if, without these turns, the labels around them fold into another repeat: then the paths differ.
  static bool same_steps(const Group &into, const Group &from, const std::vector<u32> &turns) {
    std::vector<PathStates::Step> expected;
    u64 repeat = 0;
    for (const PathStates::Step &step : into.steps) {
      u32 times = step.repeats ? turns[repeat++] : 2;
      if (times == 2)
        expected.push_back(step);
      else if (times == 1)
        for (u8 i = 0; i < step.unit.size; ++i)
          expected.push_back({{.labels = {step.unit.labels[i]}, .size = 1}, false});
    }
    return expected == from.steps;
  }

  const ShortestPaths &found_;
  const PathLabels &labels_;
  const Watch &watch_;
  PathStates states_;
  std::unordered_map<PathState, u32> by_state_;
  std::vector<u32> way_;
  u64 steps_ = 0;
  u32 last_ = 0; // the group to which an instance was added last
  // By ObjectId, for objects on a path:
  LargeArray<PathState> state_;
  LargeArray<u32> run_;       // turns of the open repeat; if none is open, of the last closed one
  LargeArray<u32> closed_at_; // the object on the path where the last closed repeat had its last turn
};

FoldedPath folded(const Group &group, u32 owner) {
  FoldedPath out{.owner = owner, .steps = {}, .instances = group.instances, .example = group.example};
  u64 repeat = 0;
  for (const PathStates::Step &step : group.steps) {
    FoldedStep &to = out.steps.emplace_back();
    to.labels.assign(step.unit.labels.begin(), step.unit.labels.begin() + step.unit.size);
    to.repeats = step.repeats;
    if (step.repeats)
      std::tie(to.least, to.most) = group.times[repeat++];
  }
  return out;
}

} // namespace

FoldedPaths fold_paths(const ShortestPaths &found, u64 objects, std::span<const ObjectId> instances,
                       const PathLabels &labels, const Watch &watch) {
  Timer timer(watch, "folding of paths");
  Folding folding(found, objects, labels, watch);
  FoldedPaths out;
  out.path_of.reserve(instances.size());
  for (ObjectId instance : instances) {
    out.path_of.push_back(found.met(instance) ? folding.add(instance) : FoldedPaths::none);
    out.not_folded += found.met(instance) && out.path_of.back() == FoldedPaths::none;
  }
  folding.merge();

  std::vector<Group> &groups = folding.groups;
  std::vector<u32> order, place(groups.size());
  for (u32 i = 0; i < groups.size(); ++i)
    if (groups[i].merged_into == FoldedPaths::none)
      order.push_back(i);
  std::sort(order.begin(), order.end(), [&](u32 a, u32 b) {
    return groups[a].instances != groups[b].instances ? groups[a].instances > groups[b].instances
                                                      : groups[a].example < groups[b].example;
  });
  for (u32 index : order) {
    place[index] = static_cast<u32>(out.paths.size());
    out.paths.push_back(folded(groups[index], folding.states().owner(groups[index].state)));
  }
  for (u32 &path : out.path_of)
    if (path != FoldedPaths::none) {
      while (groups[path].merged_into != FoldedPaths::none)
        path = groups[path].merged_into;
      path = place[path];
    }
  return out;
}

} // namespace dnheap
