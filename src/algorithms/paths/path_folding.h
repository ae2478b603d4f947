// fold_paths: merges the paths to many objects by owner and sequence of fields, with repeats folded: a list's
// thousandth item is held like its first one, by `._head`, `._next` 0 to 999 times, `._item`. Repeats of one to four
// labels are folded. Costs 12 bytes per object on such a path, one call of a label function per such object, and
// bounded memory for distinct sequences. Runs on the calling thread.
#pragma once
#include "algorithms/paths/shortest_paths.h"
#include "base/watch.h"

#include <functional>

namespace dnheap {

// The caller's numbers for steps: steps with equal numbers are merged. Owners are numbered separately.
struct PathLabels {
  std::function<u32(OwnerId owner)> owner;
  std::function<u32(ObjectId from, ObjectId to)> step;
};

struct FoldedStep {
  std::vector<u32> labels; // one; or the two to four labels of a repeat
  bool repeats = false;
  u32 least = 1, most = 1; // fewest and most repetitions in any instance
};

struct FoldedPath {
  u32 owner = 0; // label
  std::vector<FoldedStep> steps;
  u64 instances = 0;
  ObjectId example = no_object; // its first instance
};

struct FoldedPaths {
  static constexpr u32 none = ~u32{0};
  std::vector<FoldedPath> paths; // sorted by number of instances (most first), then by example
  std::vector<u32> path_of;      // by instance; `none`: not reached by the search, or its path exceeds the bounds
  u64 not_folded = 0;            // instances that are reached, but by paths beyond the bounds below
};

// `found` must have reached the instances. The result does not depend on the order in which label numbers were
// assigned.
FoldedPaths fold_paths(const ShortestPaths &found, u64 objects, std::span<const ObjectId> instances,
                       const PathLabels &labels, const Watch &watch);

// Bounds on memory: a path is not folded if it has more steps than this after folding, or if it would need more states
// than this, in all paths together.
inline constexpr u32 most_folded_steps = 200;
inline constexpr u32 most_folded_states = u32{1} << 20;

} // namespace dnheap
