// fold_paths: the paths to many objects, merged by owner and sequence of fields, repeats folded: a list's thousandth
// item is held as its first one is, `._head`, `._next` 0 to 999 times, `._item`. Repeats of one to four labels are
// folded. Costs 12 bytes per object that lies on such a path, one call of a label function per such object, and bounded
// memory for distinct sequences; one thread.
#pragma once
#include "algorithms/shortest_paths.h"
#include "base/watch.h"

#include <functional>

namespace dnheap {

// What a caller calls the steps: equal numbers for what shall be one. Owners have numbers of their own.
struct PathLabels {
  std::function<u32(OwnerId owner)> owner;
  std::function<u32(ObjectId from, ObjectId to)> step;
};

struct FoldedStep {
  std::vector<u32> labels; // one; or up to four that follow each other again and again
  bool repeats = false;
  u32 least = 1, most = 1; // times, over all instances
};

struct FoldedPath {
  u32 owner = 0; // label
  std::vector<FoldedStep> steps;
  u64 instances = 0;
  ObjectId example = no_object; // the first of them
};

struct FoldedPaths {
  static constexpr u32 none = ~u32{0};
  std::vector<FoldedPath> paths; // most instances first, then in the order of their examples
  std::vector<u32> path_of;      // by instance; none: not met by the search, or too long a pattern
  u64 not_folded = 0;            // met, but beyond the bounds below
};

// `found` has met the instances. The same result whatever the order in which label numbers were given out.
FoldedPaths fold_paths(const ShortestPaths &found, u64 objects, std::span<const ObjectId> instances,
                       const PathLabels &labels, const Watch &watch);

// Bounds on what is kept: a path that after folding has more steps than this is not folded, and neither is what comes
// when there are too many different beginnings of paths.
inline constexpr u32 most_folded_steps = 200;
inline constexpr u32 most_folded_states = u32{1} << 20;

} // namespace dnheap
