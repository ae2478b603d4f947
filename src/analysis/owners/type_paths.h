// The ways in which all instances of a type are held, those that are alike as one: the same owner, the same fields, no
// matter which elements and how often a field repeats.
#pragma once
#include "algorithms/path_folding.h"
#include "report/table.h"
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

inline constexpr u64 most_retained = 5; // ways whose `retained` is told: each costs a search

struct TypePath {
  struct Step {
    std::vector<std::string> fields; // more than one: they repeat together
    u32 least = 1, most = 1;         // how often in a row
  };
  OwnerId owner{};
  std::string owner_text; // "static Shop.Cache._items"
  bool is_static = false; // the owner is a static field
  std::vector<Step> steps;
  u64 instances = 0, bytes = 0;
  std::optional<u64> retained; // freed if all of them went: bytes; told of those with most bytes only
  Address example = 0;
  std::string signature;    // the owner's
  std::string way;          // the same for owner and fields, folded
  std::string text() const; // "static Shop.Cache._items._entries[*].value._next×0..3"
};

struct TypePaths {
  std::vector<TypePath> paths; // most bytes first, then most instances
  u64 instances = 0;           // all
  u64 unreachable = 0;         // of them
  u64 frozen = 0;              // no root is seen to hold them, but they lie in frozen segments
  u64 not_folded = 0;          // reachable, on paths of too many different fields to tell
};

// `is_meant`: of the types with these MethodTables.
TypePaths find_type_paths(Snapshot &snapshot, const std::function<bool(Address)> &is_meant);

} // namespace dnheap
