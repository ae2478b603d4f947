// RankedPaths: by what way is an object held? The ranks of owners are asked in their order, and of a rank's ways the
// shortest one counts. The runtime's queues (timers, sockets, work) lie between all that waits in them: whoever holds
// one timer reaches all timers. So all owners but the queues are asked about ways that lead through none of them first;
// what only a queue holds is told from there, as the runtime's. Costs the graph and a breadth-first search over it, and
// one over what only queues hold. One thread asks.
#pragma once
#include "algorithms/shortest_paths.h"
#include "analysis/owners/ranked_tree.h"

#include <array>
#include <memory>
#include <optional>

namespace dnheap {

class RankedPaths {
public:
  // `only`: no other object will be asked about. `tree`: takes less memory and more time, for who has it in any case;
  // what is found is the same.
  explicit RankedPaths(Snapshot &snapshot, ObjectId only = no_object, OnStacks on_stacks = OnStacks::count,
                       std::shared_ptr<const RankedTree> tree = nullptr);
  RankedPaths(const RankedPaths &) = delete;

  // An object is met by one of them at most that counts: the first.
  const std::array<std::optional<ShortestPaths>, 2> &searches() const { return searches_; }
  // The search that tells how it is held. Null: nothing holds it.
  const ShortestPaths *search_of(ObjectId object) const;
  std::optional<OwnedPath> find(ObjectId object) const;

private:
  const std::shared_ptr<const RankedTree> tree_;
  std::optional<HeldDirectly> direct_;
  std::array<std::optional<ShortestPaths>, 2> searches_;
};

// The one of all objects: kept with the snapshot. `tree`: where it is not there yet.
std::shared_ptr<const RankedPaths> ranked_paths(Snapshot &snapshot, std::shared_ptr<const RankedTree> tree = nullptr);

// The same for one object alone, straight from the heap's memory: the shortest of all ways of the program's, if it
// leads through no queue, is the shortest of those that lead through none. Where it does lead through one, RankedPaths
// tells.
struct RankedPath {
  std::optional<OwnedPath> path; // none: nothing holds it
  u64 bad_references = 0;        // of what the roots reach: neither null nor to an object; perhaps of dead ones, too
};
RankedPath find_ranked_path(Snapshot &snapshot, ObjectId object, OnStacks on_stacks = OnStacks::count);

} // namespace dnheap
