// RankedPaths: the path that best explains who holds an object. Ranks of owners are searched in order, and within a
// rank the shortest path counts. The runtime's queues (timers, sockets, work) connect everything that waits in them:
// whoever holds one timer reaches all timers. So all owners but the queues are searched first by paths that avoid
// queues; objects that only a queue holds get a path from the queue, as the runtime's. Costs the graph and a
// breadth-first search over it, and another one over the objects that only queues hold. One thread asks.
#pragma once
#include "algorithms/shortest_paths.h"
#include "analysis/owners/ranked_tree.h"

#include <array>
#include <memory>
#include <optional>

namespace dnheap {

class RankedPaths {
public:
  // `only`: the only object that will be asked about. `tree`: if the caller has one in any case, it saves memory and
  // costs time; the answers are the same.
  explicit RankedPaths(const Snapshot &snapshot, ObjectId only = no_object, OnStacks on_stacks = OnStacks::count,
                       std::shared_ptr<const RankedTree> tree = nullptr);
  RankedPaths(const RankedPaths &) = delete;

  // Each object is met by at most one search that counts: the first.
  const std::array<std::optional<ShortestPaths>, 2> &searches() const { return searches_; }
  // Returns the search whose path holds the object; null if nothing holds it.
  const ShortestPaths *search_of(ObjectId object) const;
  std::optional<OwnedPath> find(ObjectId object) const;

private:
  const std::shared_ptr<const RankedTree> tree_;
  std::optional<HeldDirectly> direct_;
  std::array<std::optional<ShortestPaths>, 2> searches_;
};

// Returns the RankedPaths of all objects, kept with the snapshot. `tree` is used if they are not made yet.
std::shared_ptr<const RankedPaths> ranked_paths(const Snapshot &snapshot,
                                                std::shared_ptr<const RankedTree> tree = nullptr);

// Finds the path to one object straight from the heap's memory. The shortest of all paths of a rank is also the
// shortest of those that avoid queues, if it avoids queues itself. If it leads through one, RankedPaths decides.
struct RankedPath {
  std::optional<OwnedPath> path; // absent: nothing holds it
  u64 bad_references = 0;        // references in what the roots reach that are neither null nor lead to an object;
                                 // perhaps in dead objects
};
RankedPath find_ranked_path(const Snapshot &snapshot, ObjectId object, OnStacks on_stacks = OnStacks::count);

} // namespace dnheap
