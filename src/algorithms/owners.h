// Owners: the roots as the graph algorithms see them: the object that each root names, and the owner (a static field, a
// thread's stack, a handle, ...) that it belongs to. Owners are numbered from 0: first the precise ones, then the
// conservative ones, which own only objects that no precise owner reaches. Ranks generalize this to more than two
// steps. A view; any number of threads may read.
#pragma once
#include "algorithms/object_bits.h"

#include <span>

namespace dnheap {

enum class OwnerId : u32 {};

struct OwnedRoot {
  ObjectId object;
  OwnerId owner;
};

struct Owners {
  u32 count = 0;   // all owners
  u32 precise = 0; // the first ones
  // In any order; an object may occur several times. Entries whose owner or object is out of range are ignored.
  std::span<const OwnedRoot> roots;
  // For the dominator tree: the first owner of each rank but the first rank, ascending. A rank owns only objects that
  // earlier ranks do not reach. Empty: two ranks, the precise and the conservative owners.
  std::span<const u32> ranks = {};
  // For the dominator tree: objects that are owners themselves. Each has its own owner, in a rank of its own, whose
  // root it is. References to a hub from other ranks pass no ownership on.
  std::span<const OwnedRoot> hubs = {};
  // For the dominator tree: objects that are linked to each other although none owns another (the runtime's timers).
  // References between two of them are ignored. Each must be a root of some owner. Null: none.
  const ObjectBits *links = nullptr;
};

} // namespace dnheap
