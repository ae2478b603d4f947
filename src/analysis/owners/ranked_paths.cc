#include "analysis/owners/ranked_paths.h"

#include "objects/object_graph.h"
#include "objects/path_search.h"

#include <algorithm>

namespace dnheap {

namespace {

using RootsByRank = std::vector<std::vector<OwnedRoot>>;

constexpr u64 chance = static_cast<u64>(OwnerRank::chance);

// Whose ways count first as far as they lead through no queue: all but the queues' own.
bool is_direct(u64 rank) { return rank < static_cast<u64>(OwnerRank::plumbing); }
// Whose ways through queues count last: what waits in a queue is not theirs for being able to reach it.
bool is_of_program(u64 rank) {
  return rank == static_cast<u64>(OwnerRank::own) || (is_direct(rank) && rank > static_cast<u64>(OwnerRank::framework));
}

// Was all met that these reach? Where a way of theirs leaves what was met, its next object is a queue, or
// one of the linked, met from another one: `behind` leaves out neither, and what it met, it met to the end.
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

RankedPaths::RankedPaths(Snapshot &snapshot, ObjectId only, OnStacks on_stacks, std::shared_ptr<const RankedTree> tree)
    : tree_(std::move(tree)) {
  if (tree_)
    direct_.emplace(snapshot.graph().edges(), tree_->tree, snapshot.threads(), snapshot.watch());
  const RootsByRank roots = roots_by_rank(snapshot, on_stacks);
  auto is_done = [&](const ShortestPaths &search) { return only != no_object && search.met(only); };
  // What a hub holds is its own: ways of owners before it end there, and those behind it find all that met. But where
  // one is asked about the question is who holds it. What flows with calls ends no way.
  WayHubs hubs = RankedOwners::way_hubs(snapshot);
  std::erase_if(hubs.owned, [&](const auto &of_rank) {
    return std::ranges::any_of(of_rank.second, [&](const OwnedRoot &hub) { return hub.object == only; });
  });
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
  direct.cut_between(nullptr); // which goes away
  if (is_done(direct))
    return;
  if (hubs.queues.empty() && hubs.linked.empty()) {
    grow(direct, [](u64 rank) { return !is_direct(rank); });
    return;
  }
  // As soon as all is met that these reach, no way of an owner that is still to come leads from there to anything new,
  // so what they reach is left out of these searches. Mostly that is all there is.
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

std::shared_ptr<const RankedPaths> ranked_paths(Snapshot &snapshot, std::shared_ptr<const RankedTree> tree) {
  return snapshot.kept<RankedPaths>(
      [&] { return std::make_shared<RankedPaths>(snapshot, no_object, OnStacks::count, std::move(tree)); });
}

RankedPath find_ranked_path(Snapshot &snapshot, ObjectId object, OnStacks on_stacks) {
  const RootsByRank roots = roots_by_rank(snapshot, on_stacks);
  PathSearch search(snapshot.index(), snapshot.references(), object, snapshot.threads(), snapshot.watch(),
                    snapshot.roots().holders);
  const OwnerRank first_hub = RankedOwners::first_early_hub(snapshot);
  RankedPath out;
  for (u64 rank = 0; rank < roots.size(); ++rank) {
    if (out.path && rank == chance)
      break; // what such roots reach may be dead
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
