// Reach: the objects that some objects lead to. One bit per object. All threads mark, level by level; a level of few
// objects is left to one thread. No recursion. In addition to the bits, costs 4 bytes for each object of the current
// and the next level.
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
  // Objects whose bits are set in `met` count as reached already: the search does not follow their references.
  Reach(const Edges &edges, ObjectBits met, unsigned threads, const Watch &watch);

  // The search marks these objects, but does not follow their references. Null: none. They must outlive the search.
  void stop_at(const ObjectBits *stops) { stops_ = stops; }
  // Marks the objects that `starts` lead to, themselves included. May be called several times. Returns false if it gave
  // up because these were more than `most`.
  bool from(std::span<const ObjectId> starts, u64 most = ~u64{0});
  const ObjectBits &met() const { return met_; }
  ObjectBits take_met() { return std::move(met_); } // the search is over
  Retained total(const ObjectSizes &sizes) const;   // sums all objects whose bits are set

private:
  // Marks an object. Returns true if it was not marked before and its references are to be followed.
  bool meet(ObjectId object) { return met_.claim(object) && !(stops_ && stops_->test(object)); }
  void look_at(std::span<const u32> objects, std::vector<u32> &next);

  const Edges edges_;
  const unsigned threads_;
  const Watch watch_;
  const ObjectBits *stops_ = nullptr;
  ObjectBits met_; // claimed by many threads at once
};

// RetainedBySets: computes exactly what would be freed if all objects of a set went, by searching what is still
// reachable without them. As in the dominator tree, conservative owners hold only objects that no precise owner
// reaches. Two bits per object.
class RetainedBySets {
public:
  RetainedBySets(const Edges &edges, const ObjectSizes &sizes, const Owners &owners, unsigned threads,
                 const Watch &watch);
  Retained reached() const { return reached_; }
  // Costs one search, and a short one over objects that only conservative owners reach.
  Retained of(const std::function<bool(ObjectId)> &in_set) const;

private:
  Retained held_conservatively_without(const ObjectBits &out) const;

  const Edges edges_;
  const ObjectSizes sizes_;
  const unsigned threads_;
  const Watch watch_;
  std::vector<ObjectId> precise_, conservative_; // roots; the conservative ones that no precise owner reaches
  ObjectBits held_precisely_;
  Retained reached_;
};

} // namespace dnheap
