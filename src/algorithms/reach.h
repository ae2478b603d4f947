// Reach: which objects some objects lead to. One bit per object; all threads mark, level by level, and a level of few
// objects is not worth a second thread. No recursion; memory besides the bits: what waits to be looked at, 4 bytes for
// each object of two levels.
#pragma once
#include "algorithms/dominator_tree.h"
#include "algorithms/object_bits.h"
#include "base/watch.h"

#include <functional>

namespace dnheap {

class Reach {
public:
  Reach(const Edges &edges, unsigned threads, const Watch &watch)
      : Reach(edges, ObjectBits(edges.objects()), threads, watch) {}
  // Objects whose bits are set are taken as met: nothing is followed through them.
  Reach(const Edges &edges, ObjectBits met, unsigned threads, const Watch &watch);

  // Marks what these lead to, themselves included; may be called several times. False: given up, as these are more than
  // `most`.
  bool from(std::span<const ObjectId> starts, u64 most = ~u64{0});
  const ObjectBits &met() const { return met_; }
  Retained total(const ObjectSizes &sizes) const; // of all bits that are set

private:
  void look_at(std::span<const u32> objects, std::vector<u32> &next);

  const Edges edges_;
  const unsigned threads_;
  const Watch watch_;
  ObjectBits met_; // claimed by many threads at once
};

// What would be freed if all objects of a set went: exactly, by looking at what can still be reached without them. As
// in the dominator tree, conservative owners hold only what no precise one reaches. Two bits per object.
class RetainedBySets {
public:
  RetainedBySets(const Edges &edges, const ObjectSizes &sizes, const Owners &owners, unsigned threads,
                 const Watch &watch);
  Retained reached() const { return reached_; }
  // Costs one search each, and a short one over what only conservative owners reach.
  Retained of(const std::function<bool(ObjectId)> &in_set) const;

private:
  Retained held_conservatively_without(const ObjectBits &out) const;

  const Edges edges_;
  const ObjectSizes sizes_;
  const unsigned threads_;
  const Watch watch_;
  std::vector<ObjectId> precise_, conservative_; // roots; of the latter those that no precise one reaches
  ObjectBits held_precisely_;
  Retained reached_;
};

} // namespace dnheap
