#include "algorithms/paths/path_folding.h"

#include "algorithms/paths/path_states.h"
#include "base/parallel.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>

namespace dnheap {
namespace {

using Count = PathStates::Count;

// A group is merged with the shorter variants of its path only if it has at most this many repeats.
constexpr u64 most_collapsed = 4;

constexpr u64 part_size = 4096;            // instances handed out to a thread at once
constexpr u64 most_moves = u64{1} << 16;   // kept by a thread for itself
constexpr u64 most_tallies = u64{1} << 12; // the same
constexpr u64 long_way = u64{1} << 16;     // objects: only one thread at a time goes along so many

struct Group {
  PathState state;
  std::vector<PathStates::Step> steps;
  std::vector<std::pair<u32, u32>> times; // least and most turns, by repeat
  u64 instances = 0, bytes = 0;
  ObjectId example = no_object;
  u32 merged_into = FoldedPaths::none;

  void count(u64 repeat, u32 least, u32 most) {
    times[repeat].first = std::min(times[repeat].first, least);
    times[repeat].second = std::max(times[repeat].second, most);
  }
  // Adds what was counted elsewhere of this group's path.
  void add(const Group &other) {
    instances += other.instances;
    bytes += other.bytes;
    example = std::min(example, other.example);
    for (u64 i = 0; i < other.times.size(); ++i)
      count(i, other.times[i].first, other.times[i].second);
  }
};

// All threads fold: each takes some instances, goes up from each to the nearest object that has a state, and gives
// states to the objects on the way back. Two threads that meet on a way write the same. States are numbered in one
// place under a lock; each thread remembers the moves that it asked for, and what it counted of some paths.
class Folding {
public:
  Folding(const ShortestPaths &found, const ObjectSizes &sizes, const PathLabels &labels, u32 most_states,
          unsigned threads, const Watch &watch)
      : found_(found), sizes_(sizes), labels_(labels), watch_(watch), states_(most_states),
        workers_(std::max(threads, 1u)), state_(labels.steps.size()), run_(labels.steps.size()),
        closed_at_(labels.steps.size()) {}

  // Fills `group_of`, by instance: `none` if it is not reached, or its path exceeds the bounds. Returns how many are
  // reached.
  u64 add(std::span<const ObjectId> instances, LargeArray<u32> &group_of) {
    constexpr u64 ahead = 16;
    std::atomic<u64> reached = 0;
    parallel_for_parts(instances.size(), part_size, static_cast<unsigned>(workers_.size()),
                       [&](u64 begin, u64 end, unsigned worker) {
                         watch_.check();
                         u64 met = 0;
                         for (u64 i = begin; i < end; ++i) {
                           if (i + ahead < end)
                             prefetch(instances[i + ahead]);
                           const bool is_met = found_.met(instances[i]);
                           group_of[i] = is_met ? add(workers_[worker], instances[i]) : FoldedPaths::none;
                           met += is_met;
                         }
                         reached += met;
                       });
    for (Worker &worker : workers_)
      hand_in(worker);
    return reached;
  }
  // True if the states were not enough: then what was folded depends on the order.
  bool is_full() const { return states_.is_full(); }

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

  // What a thread keeps for itself.
  struct Tally {
    u32 group = FoldedPaths::none;
    bool is_open = false; // the state ends in a repeat that is open
    Group counted;
  };
  struct Worker {
    std::unordered_map<u64, PathStates::Move> moves; // by state and label
    u64 last_key = 0;
    PathStates::Move last_move;
    std::unordered_map<PathState, Tally> tallies; // by the state before it is finished
    PathState last = no_state;                    // of the last instance
    Tally *tally = nullptr;                       // of that state
    std::vector<u32> way;
    u64 steps = 0;
  };

  // Returns the group of this instance's path.
  u32 add(Worker &worker, ObjectId instance) {
    fold_up_to(worker, instance);
    const u32 object = static_cast<u32>(instance);
    const PathState last = state_of(object);
    if (last == beyond)
      return FoldedPaths::none;
    if (last != worker.last) // heap neighbours mostly share a path
      take_tally(worker, last);
    Tally &tally = *worker.tally;
    if (tally.group == FoldedPaths::none)
      return FoldedPaths::none;
    Group &counted = tally.counted;
    ++counted.instances;
    counted.bytes += sizes_.of(instance);
    counted.example = std::min(counted.example, instance);
    u64 repeat = counted.times.size();
    if (tally.is_open)
      counted.count(--repeat, get(run_[object]), get(run_[object]));
    for (u32 closed = object; repeat > 0;) {
      closed = get(closed_at_[closed]);
      counted.count(--repeat, get(run_[closed]), get(run_[closed]));
    }
    return tally.group;
  }

  void take_tally(Worker &worker, PathState last) {
    if (worker.tallies.size() >= most_tallies && !worker.tallies.contains(last))
      hand_in(worker);
    const auto [at, is_new] = worker.tallies.try_emplace(last);
    worker.last = last;
    worker.tally = &at->second;
    if (!is_new)
      return;
    std::lock_guard lock(mutex_);
    const PathState state = states_.finish(last);
    if (state == no_state)
      return;
    at->second.group = group_of(state);
    at->second.is_open = states_.is_open(last);
    at->second.counted.times.assign(groups[at->second.group].times.size(), {~u32{0}, 0});
  }
  void hand_in(Worker &worker) {
    std::lock_guard lock(mutex_);
    for (const auto &[state, tally] : worker.tallies)
      if (tally.group != FoldedPaths::none)
        groups[tally.group].add(tally.counted);
    worker.tallies.clear();
    worker.last = no_state;
  }
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

  // Columns by ObjectId may be written by several threads that fold the same object; all write the same.
  static u32 get(const u32 &at) { return std::atomic_ref(const_cast<u32 &>(at)).load(std::memory_order_relaxed); }
  static void put(u32 &at, u32 value) { std::atomic_ref(at).store(value, std::memory_order_relaxed); }
  // The state comes last: whoever sees it sees the other columns, too.
  PathState state_of(u32 object) { return std::atomic_ref(state_[object]).load(std::memory_order_acquire); }
  void set_state(u32 object, PathState state) {
    std::atomic_ref(state_[object]).store(state, std::memory_order_release);
  }
  void prefetch(ObjectId instance) const {
    if (const std::optional<ObjectId> from = found_.parent(instance))
      __builtin_prefetch(&state_[static_cast<u32>(*from)]);
  }

  // Assigns a state to each object on the path to `instance`, starting after the nearest one that has a state.
  void fold_up_to(Worker &worker, ObjectId instance) {
    std::unique_lock alone(long_ways_, std::defer_lock);
    std::vector<u32> &way = worker.way;
    way.clear();
    for (std::optional<ObjectId> at = instance; at && state_of(static_cast<u32>(*at)) == 0;) {
      if (way.size() == long_way && !alone.owns_lock()) { // begins again: another thread may just have been here
        alone.lock();
        way.clear();
        at = instance;
        continue;
      }
      if (++worker.steps % 0x10000 == 0)
        watch_.check();
      way.push_back(static_cast<u32>(*at));
      at = found_.parent(*at);
    }
    for (u64 i = way.size(); i-- > 0;) {
      if (++worker.steps % 0x10000 == 0)
        watch_.check();
      const u32 object = way[i];
      if (state_of(object) != 0)
        continue;
      if (std::optional<ObjectId> from = found_.parent(ObjectId{object}))
        take_step(worker, static_cast<u32>(*from), object);
      else
        begin(object);
    }
    if (way.capacity() > long_way)
      way = {};
  }
  void begin(u32 root) {
    std::lock_guard lock(mutex_);
    set_state(root, known(states_.begin(labels_.owner(*found_.owner(ObjectId{root})))));
  }
  void take_step(Worker &worker, u32 from, u32 to) {
    const PathState before = state_of(from);
    if (before == beyond) {
      set_state(to, beyond);
      return;
    }
    const PathStates::Move move = move_of(worker, before, labels_.steps[to]);
    bool closed = move.count == Count::closed || move.count == Count::closed_then_two;
    const u32 closed_at = closed ? from : get(closed_at_[from]);
    const u32 run = move.count == Count::two || move.count == Count::closed_then_two ? 2
                    : move.count == Count::one_more                                  ? get(run_[from]) + 1
                                                                                     : get(run_[from]);
    // The entries start as zero. Zeros are not written again, so pages that have nothing else take no memory.
    if (closed_at)
      put(closed_at_[to], closed_at);
    if (run)
      put(run_[to], run);
    set_state(to, known(move.to));
  }
  PathStates::Move move_of(Worker &worker, PathState from, u32 label) {
    const u64 key = u64{from} << 32 | label;
    if (key == worker.last_key)
      return worker.last_move;
    auto at = worker.moves.find(key);
    if (at == worker.moves.end()) {
      if (worker.moves.size() >= most_moves)
        worker.moves.clear();
      std::lock_guard lock(mutex_);
      at = worker.moves.emplace(key, states_.move(from, label)).first;
    }
    worker.last_key = key;
    return worker.last_move = at->second;
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
    into.bytes += from.bytes;
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
  const ObjectSizes sizes_;
  const PathLabels &labels_;
  const Watch &watch_;
  std::mutex mutex_;     // guards states_, by_state_ and groups while threads fold
  std::mutex long_ways_; // held by the one thread that goes along a long way
  PathStates states_;
  std::unordered_map<PathState, u32> by_state_;
  std::vector<Worker> workers_;
  // By ObjectId, for objects on a path:
  LargeArray<PathState> state_;
  LargeArray<u32> run_;       // turns of the open repeat; if none is open, of the last closed one
  LargeArray<u32> closed_at_; // the object on the path where the last closed repeat had its last turn
};

FoldedPath folded(const Group &group, u32 owner) {
  FoldedPath out{
      .owner = owner, .steps = {}, .instances = group.instances, .bytes = group.bytes, .example = group.example};
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

FoldedPaths fold_paths(const ShortestPaths &found, const ObjectSizes &sizes, std::span<const ObjectId> instances,
                       const PathLabels &labels, unsigned threads, const Watch &watch, u32 most_states) {
  Timer timer(watch, "folding of paths");
  FoldedPaths out;
  out.path_of = LargeArray<u32>(instances.size());
  std::optional<Folding> folding(std::in_place, found, sizes, labels, most_states, threads, watch);
  u64 reached = folding->add(instances, out.path_of);
  if (folding->is_full() && threads > 1) {
    folding.reset();
    folding.emplace(found, sizes, labels, most_states, 1, watch);
    reached = folding->add(instances, out.path_of);
  }
  u64 folded_instances = 0;
  for (const Group &group : folding->groups)
    folded_instances += group.instances;
  out.not_folded = reached - folded_instances;
  folding->merge();

  std::vector<Group> &groups = folding->groups;
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
    out.paths.push_back(folded(groups[index], folding->states().owner(groups[index].state)));
  }
  for (u32 i = 0; i < groups.size(); ++i)
    if (groups[i].merged_into != FoldedPaths::none) {
      u32 into = i;
      while (groups[into].merged_into != FoldedPaths::none)
        into = groups[into].merged_into;
      place[i] = place[into];
    }
  parallel_for_parts(instances.size(), 16 * part_size, threads, [&](u64 begin, u64 end, unsigned) {
    for (u64 i = begin; i < end; ++i)
      if (out.path_of[i] != FoldedPaths::none)
        out.path_of[i] = place[out.path_of[i]];
  });
  return out;
}

} // namespace dnheap
