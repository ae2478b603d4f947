#include "analysis/owners/held_without.h"

#include "algorithms/reach.h"
#include "analysis/owners/ranked_owners.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"

namespace dnheap {

HeldWithout::HeldWithout(const Snapshot &snapshot, std::span<const Address> cut) : snapshot_(snapshot) {
  const Edges edges = snapshot.graph().edges();
  ObjectBits is_cut(edges.objects());
  for (const Address one : cut)
    if (const ObjectId id = snapshot.index().find(one); id != no_object)
      is_cut.set(id);
  std::vector<ObjectId> roots;
  for (const OwnedRoot &root : roots_that_count(snapshot, OnStacks::count))
    if (static_cast<u32>(root.object) < edges.objects())
      roots.push_back(root.object);
  Reach reach(edges, snapshot.threads(), snapshot.watch());
  reach.stop_at(&is_cut);
  reach.from(roots);
  held_ = reach.take_met();
}

bool HeldWithout::is_held(Address object) const {
  const ObjectId id = object ? snapshot_.index().find(object) : no_object;
  return id != no_object && held_.test(id);
}

} // namespace dnheap
