#include "analysis/owners/ranked_paths.h"

#include "objects/object_graph.h"
#include "objects/path_search.h"

#include <algorithm>

namespace dnheap {

namespace {

using RootsByRank = std::vector<std::vector<OwnedRoot>>;

constexpr u64 chance = static_cast<u64>(OwnerRank::chance);

// True for all ranks before the runtime's queues: their paths that avoid all queues come first.
bool is_direct(u64 rank) { return rank < static_cast<u64>(OwnerRank::plumbing); }
// True for ranks whose paths through queues come last: that they reach a queue does not make them owners of its
// contents.
bool is_of_program(u64 rank) {
  return rank == static_cast<u64>(OwnerRank::own) || (is_direct(rank) && rank > static_cast<u64>(OwnerRank::framework));
}

// True if the two searches together have met everything that the owners of `direct` reach. From the objects that
// `direct` has met, a path leads to others only at a queue, or between two linked objects. `behind` avoids neither, and
// follows everything that it meets to the end.
bool all_are_met(const ShortestPaths &direct, const ShortestPaths &behind, const WayHubs &hubs,
                 const ObjectBits &linked, const Edges &edges) {
  auto is_met = [&](ObjectId object) { return direct.met(object) || behind.met(object); };
  return std::all_of(hubs.queues.begin(), hubs.queues.end(), is_met) &&
         std::all_of(hubs.linked.begin(), hubs.linked.end(), [&](ObjectId one) {
           const std::span<const ObjectId> targets = edges.of(one);
           return !direct.met(one) || std::all_of(targets.begin(), targets.end(), [&](ObjectId target) {
             return !linked.test(target) || is_met(target);
           });
         });
}

std::vector<ObjectId> objects_of(const std::vector<OwnedRoot> &roots) {
  std::vector<ObjectId> out;
  for (const OwnedRoot &root : roots)
    out.push_back(root.object);
  return out;
}

} // namespace

RankedPaths::RankedPaths(const Snapshot &snapshot, ObjectId only, OnStacks on_stacks,
                         std::shared_ptr<const RankedTree> tree)
    : tree_(std::move(tree)) {
  if (tree_)
    direct_.emplace(snapshot.graph().edges(), tree_->tree, snapshot.threads(), snapshot.watch());
  const RootsByRank roots = roots_by_rank(snapshot, on_stacks);
  auto is_done = [&](const ShortestPaths &search) { return only != no_object && search.met(only); };
  // A hub owns what it holds, and is its own owner: paths of earlier owners end at the hub, and later owners find its
  // objects already met. Contexts that flow with calls end no path.
  WayHubs hubs = RankedOwners::way_hubs(snapshot);
  auto grow = [&](ShortestPaths &search, auto &&takes) {
    for (u64 rank = 0; rank < roots.size() && !is_done(search); ++rank) {
      if (!takes(rank))
        continue;
      if (const auto of_rank = hubs.owned.find(static_cast<OwnerRank>(rank)); of_rank != hubs.owned.end()) {
        if (of_rank->first == OwnerRank::services)
          search.let_in(objects_of(of_rank->second));
        search.grow(of_rank->second, only);
      }
      search.grow(roots[rank], only);
    }
  };
  auto begin = [&](u64 i) -> ShortestPaths & {
    return searches_[i].emplace(snapshot.graph().edges(), snapshot.threads(), snapshot.watch(),
                                direct_ ? &*direct_ : nullptr);
  };

  ObjectBits linked(hubs.linked.empty() ? 0 : snapshot.graph().objects());
  for (ObjectId object : hubs.linked)
    linked.set(object);
  ShortestPaths &direct = begin(0);
  direct.cut_between(hubs.linked.empty() ? nullptr : &linked);
  direct.leave_out(hubs.queues);
  direct.leave_out(objects_of(hubs.owned[OwnerRank::services]));
  grow(direct, is_direct);
  direct.cut_between(nullptr); // `linked` goes out of scope
  if (is_done(direct))
    return;
  if (hubs.queues.empty() && hubs.linked.empty()) {
    grow(direct, [](u64 rank) { return !is_direct(rank); });
    return;
  }
  // Once everything that the owners of `direct` reach has been met, later owners reach nothing new through it. From
  // then on `behind` leaves out what `direct` met. Mostly this is so from the beginning.
  ShortestPaths &behind = begin(1);
  behind.grow(hubs.owned[OwnerRank::plumbing], only);
  bool all_met = false;
  auto grow_behind = [&](u64 rank) {
    if (is_done(behind))
      return;
    if (!all_met && all_are_met(direct, behind, hubs, linked, snapshot.graph().edges())) {
      behind.leave_out_met(direct);
      all_met = true;
    }
    if (!(all_met && is_direct(rank)))
      behind.grow(roots[rank], only);
  };
  for (bool of_program : {false, true})
    for (u64 rank = 0; rank < chance; ++rank)
      if (is_of_program(rank) == of_program)
        grow_behind(rank);
  grow_behind(chance);
}

const ShortestPaths *RankedPaths::search_of(ObjectId object) const {
  for (const std::optional<ShortestPaths> &search : searches_)
    if (search && search->met(object))
      return &*search;
  return nullptr;
}

std::optional<OwnedPath> RankedPaths::find(ObjectId object) const {
  const ShortestPaths *search = search_of(object);
  if (!search)
    return std::nullopt;
  std::vector<ObjectId> objects = search->path(object);
  return OwnedPath{*search->owner(objects.front()), std::move(objects)};
}

std::shared_ptr<const RankedPaths> ranked_paths(const Snapshot &snapshot, std::shared_ptr<const RankedTree> tree) {
  return snapshot.kept<RankedPaths>(
      [&] { return std::make_shared<RankedPaths>(snapshot, no_object, OnStacks::count, std::move(tree)); });
}

RankedPath find_ranked_path(const Snapshot &snapshot, ObjectId object, OnStacks on_stacks) {
  const RootsByRank roots = roots_by_rank(snapshot, on_stacks);
  PathSearch search(snapshot.index(), snapshot.references(), object, snapshot.threads(), snapshot.watch(),
                    snapshot.roots().holders);
  const OwnerRank first_hub = RankedOwners::first_early_hub(snapshot);
  RankedPath out;
  for (u64 rank = 0; rank < roots.size(); ++rank) {
    if (out.path && rank == chance)
      break; // objects that only words on stacks reach may be dead
    if (roots[rank].empty())
      continue;
    std::optional<OwnedPath> path = search.grow(roots[rank]);
    const bool may_be_held_before = rank > static_cast<u64>(first_hub);
    if (path && is_direct(rank) && (may_be_held_before || RankedOwners::leads_through_hub(snapshot, path->objects)))
      path = RankedPaths(snapshot, object, on_stacks).find(object);
    if (path)
      out.path = std::move(path);
  }
  out.bad_references = search.bad_references();
  return out;
}

} // namespace dnheap
