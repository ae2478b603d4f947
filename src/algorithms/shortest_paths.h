// ShortestPaths: a breadth-first search, level by level, that remembers for each object whom it was met from. What it
// finds does not depend on the number of threads: of several ways of the same length, the one over the object with the
// least number counts, step by step from the far end, and the owner with the least number. Costs what found_from.h says
// and three bits per object. A level of few objects is a list, which is not worth a second thread; a large one is a bit
// for each object, which all threads go through.
#pragma once
#include "algorithms/edges.h"
#include "algorithms/found_from.h"
#include "algorithms/object_bits.h"
#include "algorithms/owners.h"
#include "base/watch.h"

#include <optional>
#include <vector>

namespace dnheap {

class ShortestPaths {
public:
  // `direct`: takes less memory and more time; outlives this. What is found is the same.
  ShortestPaths(const Edges &edges, unsigned threads, const Watch &watch, const HeldDirectly *direct = nullptr);

  // Searches from these roots over all that earlier calls did not meet, up to the level in which `until` is met if that
  // is an object. With earlier calls it makes a forest. Throws Error when objects and owners are more than 2^32 - 2.
  void grow(std::span<const OwnedRoot> roots, ObjectId until = no_object);
  // The precise owners first, to the end; then, if `until` was not met, the conservative ones.
  void grow(const Owners &owners, ObjectId until = no_object);

  // From now on these are not met.
  void leave_out(std::span<const ObjectId> objects) {
    for (ObjectId object : objects)
      closed_.claim(object);
  }
  // From now on they are again; of what is not met yet.
  void let_in(std::span<const ObjectId> objects) {
    for (ObjectId object : objects)
      if (!met(object))
        closed_.reset(object);
  }
  // Nor what a search that came to its end met or left out.
  void leave_out_met(const ShortestPaths &other);
  // From now on references from one of these to another do not count. Null: all do.
  void cut_between(const ObjectBits *linked) { linked_ = linked; }

  bool met(ObjectId object) const { return from_[object] != 0; }
  // Whom an object was met from; nothing for roots, and for what was not met.
  std::optional<ObjectId> parent(ObjectId object) const {
    u32 from = from_[object];
    return from != 0 && from <= edges_.objects() ? std::optional(ObjectId{from - 1}) : std::nullopt;
  }
  // The owner that a search began with here.
  std::optional<OwnerId> owner(ObjectId root) const {
    u32 from = from_[root];
    return from > edges_.objects() ? std::optional(OwnerId(from - 1 - edges_.objects())) : std::nullopt;
  }
  // From the root to the object; empty if it was not met.
  std::vector<ObjectId> path(ObjectId object) const;

  // The objects of `wanted` that the last call to grow met, nearest first, within a level by number.
  void look_for(const ObjectBits *wanted) { wanted_ = wanted; }
  const std::vector<ObjectId> &found() const { return found_; }

private:
  struct Level {
    std::vector<u32> list;
    ObjectBits bits; // instead of the list; none of them is set where the level is a list
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
  const u64 large_;   // objects of a level that make it large
  FoundFrom from_;    // 1 + the object it was met from, or 1 + objects + owner; 0 = not met
  ObjectBits closed_; // objects of levels that are complete
  const ObjectBits *wanted_ = nullptr, *linked_ = nullptr;
  std::vector<ObjectId> found_;
};

struct OwnedPath {
  OwnerId owner;
  std::vector<ObjectId> objects; // from the root to the object in question
};

// From every owner that leads to the object a shortest path, the nearest `most` of them: one search over the referrers
// (edges turned round). Ties go to the owner, then the root, with the lesser number.
std::vector<OwnedPath> paths_from_owners(const Edges &referrers, const Owners &owners, ObjectId object, u64 most,
                                         unsigned threads, const Watch &watch);

} // namespace dnheap
