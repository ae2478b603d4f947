// The paths that hold the instances of a type. Paths with the same owner and the same fields are one path, whichever
// elements they lead through and however often a field repeats.
#pragma once
#include "algorithms/paths/path_folding.h"
#include "algorithms/paths/retained_by_each.h"
#include "report/table.h"
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

inline constexpr u64 most_retained = most_sets_at_once; // paths whose `retained` is computed: all by one search

struct TypePath {
  struct Step {
    std::vector<std::string> fields; // several: these repeat together
    u32 least = 1, most = 1;         // fewest and most repetitions in a row, in any instance
  };
  OwnerId owner{};
  std::string owner_text; // "static Shop.Cache._items"
  bool is_static = false; // the owner is a static field
  std::vector<Step> steps;
  u64 instances = 0, bytes = 0;
  std::optional<u64> retained; // bytes freed if all instances on this path went; only for the paths with most bytes
  Address example = 0;
  std::string signature;    // of the owner
  std::string way;          // signature of owner and fields, folded
  std::string text() const; // "static Shop.Cache._items._entries[*].value._next×0..3"
};

struct TypePaths {
  std::vector<TypePath> paths; // most bytes first, then most instances
  u64 instances = 0;           // all
  u64 unreachable = 0;         // how many of them nothing holds
  u64 frozen = 0;              // instances that no known root holds, but that lie in frozen segments
  // Instances that are reachable, but by paths beyond the bounds of path_folding.h: paths with more than
  // most_folded_steps steps after folding, or that would need more than most_folded_states states.
  u64 not_folded = 0;
};

// `is_meant`: true for the MethodTables of the types to find.
TypePaths find_type_paths(const Snapshot &snapshot, const std::function<bool(Address)> &is_meant);

} // namespace dnheap
