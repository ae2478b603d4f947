// Owners: the roots as the graph algorithms see them: which object each one names, and which owner (a static field, a
// thread's stack, a handle, ...) it belongs to. Owners are numbered from 0: first the precise ones, then the
// conservative ones, which never compete: they own only what no precise one reaches. Ranks do the same in more than two
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
  // In any order, an object may be named several times. Entries with an owner or an object out of range do not count.
  std::span<const OwnedRoot> roots;
  // For the dominator tree. The first owner of each rank but the first one, ascending: a rank owns only what those
  // before it do not reach. Empty: the precise ones, then the conservative ones.
  std::span<const u32> ranks = {};
  // For the dominator tree. Objects that are owners themselves, each with an owner, in a rank of its own, whose root it
  // is: references to it from other ranks pass no ownership on.
  std::span<const OwnedRoot> hubs = {};
  // For the dominator tree. Objects that are linked to each other without one owning the other (the runtime's timers):
  // references from one of them to another do not count. Each must be a root of some owner. Null: none.
  const ObjectBits *links = nullptr;
};

} // namespace dnheap
