// ShortestPaths: a breadth-first search, level by level, that remembers the object from which each object was first
// reached. The result does not depend on the number of threads: among several paths of the same length, each step back
// from the object leads to the referrer with the least number, and finally to the owner with the least number. Costs
// the memory of FoundFrom and three bits per object. A small level is a list, which one thread goes through; a large
// level is a bit for each object, and all threads go through the bits.
#pragma once
#include "algorithms/edges.h"
#include "algorithms/object_bits.h"
#include "algorithms/owners.h"
#include "algorithms/paths/found_from.h"
#include "base/watch.h"

#include <optional>
#include <vector>

namespace dnheap {

class ShortestPaths {
public:
  // `direct` saves memory but takes more time; the result is the same. It must outlive this object.
  ShortestPaths(const Edges &edges, unsigned threads, const Watch &watch, const HeldDirectly *direct = nullptr);

  // Continues the search from `roots`, skipping objects that earlier calls reached. Stops after the level in which
  // `until` was reached, if that is an object. Several calls make a forest. Throws Error when objects and owners exceed
  // 2^32 - 2.
  void grow(std::span<const OwnedRoot> roots, ObjectId until = no_object);
  // Searches from the precise owners to the end; then, if `until` was not reached, from the conservative ones.
  void grow(const Owners &owners, ObjectId until = no_object);

  // The search will not enter these objects from now on.
  void leave_out(std::span<const ObjectId> objects) {
    for (ObjectId object : objects)
      closed_.claim(object);
  }
  // Undoes leave_out() for those of these objects that are not reached yet.
  void let_in(std::span<const ObjectId> objects) {
    for (ObjectId object : objects)
      if (!met(object))
        closed_.reset(object);
  }
  // Leaves out, too, what a finished search reached or left out.
  void leave_out_met(const ShortestPaths &other);
  // References between two of these objects are ignored from now on. Null: none are.
  void cut_between(const ObjectBits *linked) { linked_ = linked; }

  bool met(ObjectId object) const { return from_[object] != 0; }
  // Returns the object from which this one was reached; nullopt for roots and for objects not reached.
  std::optional<ObjectId> parent(ObjectId object) const {
    u32 from = from_[object];
    return from != 0 && from <= edges_.objects() ? std::optional(ObjectId{from - 1}) : std::nullopt;
  }
  // Prefetches the memory that parent() will read first.
  void prefetch(ObjectId object) const { from_.prefetch(static_cast<u32>(object)); }
  // Returns the owner whose root this is; nullopt if the search did not begin here.
  std::optional<OwnerId> owner(ObjectId root) const {
    u32 from = from_[root];
    return from > edges_.objects() ? std::optional(OwnerId(from - 1 - edges_.objects())) : std::nullopt;
  }
  // Returns the path from the root to the object; empty if it was not reached.
  std::vector<ObjectId> path(ObjectId object) const;

  // Makes found() return the objects of `wanted` that the last call of grow() reached: nearest first, within a level by
  // number.
  void look_for(const ObjectBits *wanted) { wanted_ = wanted; }
  const std::vector<ObjectId> &found() const { return found_; }

private:
  struct Level {
    std::vector<u32> list;
    ObjectBits bits; // replaces the list in a large level; all clear if the level is a list
    bool is_large = false;
    u64 count = 0;
  };
  void begin(std::span<const OwnedRoot> roots, Level &level);
  void expand(Level &level, Level &next);
  void close(Level &level);
  template <class Meet> void expand_some(std::span<const u32> objects, bool alone, Meet meet);

  const Edges edges_;
  const unsigned threads_;
  const Watch watch_;
  const u64 large_;   // a level of so many objects is large
  FoundFrom from_;    // 1 + the object it was reached from, or 1 + objects + owner; 0 = not reached
  ObjectBits closed_; // objects of finished levels
  const ObjectBits *wanted_ = nullptr, *linked_ = nullptr;
  std::vector<ObjectId> found_;
};

struct OwnedPath {
  OwnerId owner;
  std::vector<ObjectId> objects; // from the root to the object in question
};

// Returns a shortest path from each owner that reaches the object, for the nearest `most` owners, by one search over
// the referrers (edges reversed). Ties go to the owner, then the root, with the lower number.
std::vector<OwnedPath> paths_from_owners(const Edges &referrers, const Owners &owners, ObjectId object, u64 most,
                                         unsigned threads, const Watch &watch);

} // namespace dnheap
