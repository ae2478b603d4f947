#include "analysis/owners/held_without.h"

#include "algorithms/reach.h"
#include "analysis/owners/ranked_owners.h"
#include "base/parallel.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"

namespace dnheap {

HeldWithout::HeldWithout(const Snapshot &snapshot, std::span<const Address> cut)
    : snapshot_(snapshot), held_(snapshot.graph().edges().objects()) {
  const Edges edges = snapshot.graph().edges();
  ObjectBits is_cut(edges.objects()), met(edges.objects());
  for (const Address one : cut)
    if (const ObjectId id = snapshot.index().find(one); id != no_object)
      is_cut.set(id), met.set(id);
  std::vector<ObjectId> roots;
  for (const OwnedRoot &root : roots_that_count(snapshot, OnStacks::count))
    if (static_cast<u32>(root.object) < edges.objects())
      roots.push_back(root.object);
  for (const ObjectId root : roots)
    if (is_cut.test(root))
      held_.set(root);
  Reach reach(edges, std::move(met), snapshot.threads(), snapshot.watch());
  reach.from(roots);
  // The search stops at the objects that are cut, so a second look finds who refers to these.
  parallel_for_parts(edges.objects(), 1024 * 64, snapshot.threads(), [&](u64 begin, u64 end, unsigned) {
    snapshot.watch().check();
    for (u64 i = begin; i < end; ++i)
      if (reach.met().test(i) && !is_cut.test(i)) {
        held_.claim(i);
        for (const ObjectId target : edges.of(ObjectId(i)))
          if (is_cut.test(target))
            held_.claim(target);
      }
  });
}

bool HeldWithout::is_held(Address object) const {
  const ObjectId id = object ? snapshot_.index().find(object) : no_object;
  return id != no_object && held_.test(id);
}

} // namespace dnheap
