// RankedPaths: the path that best explains who holds an object. Ranks of owners are searched in order, and within a
// rank the shortest path counts. The runtime's queues (timers, sockets, work) connect everything that waits in them:
// whoever holds one timer reaches all timers. So the first search begins at all owners but the queues, and follows only
// paths that avoid queues. Objects that only a queue holds get a path that begins at the queue, as objects of the
// runtime. Costs the graph and a breadth-first search over it, and another search over the objects that only queues
// hold. Not for several threads at once.
#pragma once
#include "algorithms/paths/shortest_paths.h"
#include "analysis/owners/ranked_tree.h"

#include <array>
#include <memory>
#include <optional>

namespace dnheap {

class RankedPaths {
public:
  // `only`: the only object about which the caller will ask. `tree`: for callers that have one in any case: it saves
  // memory and costs time; the answers are the same.
  explicit RankedPaths(const Snapshot &snapshot, ObjectId only = no_object, OnStacks on_stacks = OnStacks::count,
                       std::shared_ptr<const RankedTree> tree = nullptr);
  RankedPaths(const RankedPaths &) = delete;

  // If both searches reach an object, the first search counts.
  const std::array<std::optional<ShortestPaths>, 2> &searches() const { return searches_; }
  // Returns the search whose path holds the object; null if nothing holds it.
  const ShortestPaths *search_of(ObjectId object) const;
  std::optional<OwnedPath> find(ObjectId object) const;

private:
  const std::shared_ptr<const RankedTree> tree_;
  std::optional<HeldDirectly> direct_;
  std::array<std::optional<ShortestPaths>, 2> searches_;
};

// Returns the RankedPaths of all objects, kept with the snapshot. `tree` is used if they have not been made yet.
std::shared_ptr<const RankedPaths> ranked_paths(const Snapshot &snapshot,
                                                std::shared_ptr<const RankedTree> tree = nullptr);

// The path to one object, read straight from the heap's memory, without the graph. If the shortest of all paths of a
// rank avoids queues, it is also the shortest of the paths that avoid queues. If it leads through a queue, RankedPaths
// finds the path.
struct RankedPath {
  std::optional<OwnedPath> path; // absent: nothing holds it
  // Bad references in the objects that the search read; objects that only roots of rank `chance` reach may be dead.
  u64 bad_references = 0;
};
RankedPath find_ranked_path(const Snapshot &snapshot, ObjectId object, OnStacks on_stacks = OnStacks::count);

} // namespace dnheap
