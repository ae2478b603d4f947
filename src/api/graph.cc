#include "dnheap/graph.h"

#include "algorithms/paths/shortest_paths.h"
#include "algorithms/reach.h"
#include "api/state.h"
#include "objects/roots.h"

#include <algorithm>

namespace dnheap::v0 {

namespace {

Retained outer(const dnheap::Retained &of) { return {of.objects, of.bytes}; }

} // namespace

std::uint64_t Graph::objects() const { return state_->inside().graph().objects(); }
std::uint64_t Graph::bad_references() const { return state_->inside().graph().bad_references(); }
Address Graph::address(ObjectId object) const { return Address(state_->inside().index().address(object)); }

std::optional<ObjectId> Graph::find(Address address) const {
  const ObjectId object = state_->inside().index().find(address.value());
  return object == dnheap::no_object ? std::nullopt : std::optional(object);
}

Object Graph::object(ObjectId object) const { return state_->object(object); }
std::span<const TypeId> Graph::types() const { return state_->inside().graph().types(); }
std::uint64_t Graph::size(ObjectId object) const { return state_->inside().sizes().of(object); }

GraphEdges Graph::references() const { return {state_->first_references(), state_->inside().graph().edges().targets}; }

GraphEdges Graph::referrers() const {
  const Edges edges = state_->referrers().edges();
  return {edges.first, edges.targets};
}

std::optional<Retained> Graph::retained(ObjectId object) const {
  const DominatorTree &tree = state_->inside().dominators();
  const std::optional<TreePlace> place = tree.place(object);
  return place ? std::optional(outer(tree.retained(*place))) : std::nullopt;
}

std::optional<ObjectId> Graph::dominator(ObjectId object) const {
  const DominatorTree &tree = state_->inside().dominators();
  const std::optional<TreePlace> place = tree.place(object);
  return place ? tree.object(tree.parent(*place)) : std::nullopt;
}

std::vector<Owner> Graph::owners() const {
  const DominatorTree &tree = state_->inside().dominators();
  const std::vector<RootOwners::Owner> &owners = state_->inside().owners().owners;
  std::vector<Owner> out;
  for (u32 i = 0; i < owners.size(); ++i)
    out.push_back({owners[i].name, static_cast<RootKind>(owners[i].kind), owners[i].conservative,
                   outer(tree.retained(tree.place(OwnerId{i})))});
  return out;
}

Retained Graph::shared() const { return outer(state_->inside().dominators().shared()); }
Retained Graph::unreachable() const { return outer(state_->inside().dominators().unreachable()); }

Retained Graph::retained_by(const std::function<bool(ObjectId)> &in_set) const {
  return outer(state_->retained_by_sets().of(in_set));
}

Retained Graph::closure(std::span<const ObjectId> objects) const {
  const dnheap::Snapshot &of = state_->inside();
  const u64 all = of.graph().objects();
  if (std::any_of(objects.begin(), objects.end(), [&](ObjectId object) { return number_of(object) >= all; }))
    throw UsageError("closure(): an ObjectId is too large: there are " + std::to_string(all) + " objects");
  Reach reach(of.graph().edges(), of.threads(), of.watch());
  reach.from(objects);
  return outer(reach.total(of.sizes()));
}

std::optional<Path> Graph::shortest_path(ObjectId object) const {
  const dnheap::Snapshot &of = state_->inside();
  ShortestPaths search(of.graph().edges(), of.threads(), of.watch());
  search.grow(of.owned_roots(), object);
  if (!search.met(object))
    return std::nullopt;
  Path out{"", search.path(object)};
  out.owner = of.owners().owners[static_cast<u32>(*search.owner(out.objects.front()))].name;
  return out;
}

std::vector<Path> Graph::paths_from_owners(ObjectId object, std::uint64_t most) const {
  const dnheap::Snapshot &of = state_->inside();
  std::vector<Path> out;
  for (OwnedPath &path :
       dnheap::paths_from_owners(state_->referrers().edges(), of.owned_roots(), object, most, of.threads(), of.watch()))
    out.push_back({of.owners().owners[static_cast<u32>(path.owner)].name, std::move(path.objects)});
  return out;
}

} // namespace dnheap::v0
