// fold_paths: merges the paths to many objects by owner and sequence of fields, with repeats folded: a list's
// thousandth item is held like its first one, by `._head`, `._next` 0 to 999 times, `._item`. Repeats of one to four
// labels are folded. Costs 12 bytes per object on such a path, and bounded memory for distinct sequences. All threads
// fold; one does it anew, instance by instance, if that memory is not enough, as what is folded then depends on the
// order.
#pragma once
#include "algorithms/object_sizes.h"
#include "algorithms/paths/shortest_paths.h"
#include "base/watch.h"

#include <functional>

namespace dnheap {

// Bounds on memory: a path is not folded if it has more steps than this after folding, or if it would need more states
// than this, in all paths together.
inline constexpr u32 most_folded_steps = 200;
inline constexpr u32 most_folded_states = u32{1} << 20;

// The caller's numbers for steps: steps with equal numbers are merged. Owners are numbered separately.
struct PathLabels {
  std::function<u32(OwnerId owner)> owner; // called from many threads
  std::span<const u32> steps;              // by ObjectId: of the step that leads to the object; roots need none
};

struct FoldedStep {
  std::vector<u32> labels; // one; or the two to four labels of a repeat
  bool repeats = false;
  u32 least = 1, most = 1; // fewest and most repetitions in any instance
};

struct FoldedPath {
  u32 owner = 0; // label
  std::vector<FoldedStep> steps;
  u64 instances = 0, bytes = 0;
  ObjectId example = no_object; // its first instance
};

struct FoldedPaths {
  static constexpr u32 none = ~u32{0};
  std::vector<FoldedPath> paths; // sorted by number of instances (most first), then by example
  LargeArray<u32> path_of;       // by instance; `none`: not reached by the search, or its path exceeds the bounds
  u64 not_folded = 0;            // instances that are reached, but by paths beyond the bounds above
};

// The result does not depend on the order in which label numbers were assigned, nor on the number of threads. Throws
// Interrupted. `most_states` is lowered by tests.
FoldedPaths fold_paths(const ShortestPaths &found, const ObjectSizes &sizes, std::span<const ObjectId> instances,
                       const PathLabels &labels, unsigned threads, const Watch &watch,
                       u32 most_states = most_folded_states);

} // namespace dnheap
