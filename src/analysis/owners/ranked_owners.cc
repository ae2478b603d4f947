#include "analysis/owners/ranked_owners.h"

#include "analysis/names/framework_names.h"
#include "objects/live.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"

#include <algorithm>
#include <map>
#include <set>

namespace dnheap {

namespace {

// Objects of a type with more objects than this are not hubs. A program with many containers keeps these in a
// collection of its own.
constexpr u64 most_of_a_hub = 1024, most_containers = 64;
constexpr const char *services_name = "the container of services";

bool is_early(OwnerRank rank) { return rank < OwnerRank::own_frames; }

OwnerRank rank_of(const RootOwners::Owner &owner, std::string_view name, const FrameworkNames &framework) {
  switch (owner.kind) {
  case RootKind::static_field:
  case RootKind::thread_static:
    if (name != unnamed_static && !framework.contain(name))
      return OwnerRank::own;
    // A thread static shows what the thread is doing just now: its task, or the values that flow with its call.
    return owner.kind == RootKind::static_field ? OwnerRank::framework : OwnerRank::frames;
  case RootKind::stack: return framework.contain(name) ? OwnerRank::frames : OwnerRank::own_frames;
  case RootKind::finalizer: return OwnerRank::framework;
  case RootKind::handle:
  case RootKind::com: return OwnerRank::plumbing;
  case RootKind::stack_conservative: return OwnerRank::chance;
  }
  return OwnerRank::chance;
}

using ObjectsByType = std::map<std::string_view, std::vector<ObjectId>>;

ObjectsByType objects_by_type(const Snapshot &snapshot, const std::set<std::string_view> &names) {
  const ObjectGraph &graph = snapshot.graph();
  const HeapTypes &types = snapshot.references().types();
  std::vector<std::vector<ObjectId> *> wanted(types.size());
  ObjectsByType out;
  for (u32 i = 0; i < types.size(); ++i)
    if (auto name = names.find(snapshot.runtime().types().name(types[TypeId{i}].method_table)); name != names.end())
      wanted[i] = &out[*name];
  if (out.empty())
    return out;
  for (u64 i = 0; i < graph.objects(); ++i)
    if (const u32 type = static_cast<u32>(graph.types()[i]); type < wanted.size() && wanted[type])
      wanted[type]->push_back(ObjectId(static_cast<u32>(i)));
  return out;
}

// True if a short search meets all of `wanted`. It begins with the framework's roots, leaves large arrays for later,
// and gives up after most_edges edges; false then means unknown.
bool are_reached(const Snapshot &snapshot, const std::vector<ObjectId> &wanted) {
  constexpr u64 most_edges = 1 << 20, large = 1024;
  const Edges edges = snapshot.graph().edges();
  std::vector<std::vector<OwnedRoot>> roots = roots_by_rank(snapshot);
  std::swap(roots[0], roots[static_cast<u64>(OwnerRank::framework)]);
  ObjectBits is_wanted(edges.objects()), met(edges.objects());
  for (ObjectId object : wanted)
    is_wanted.set(object);
  u64 missing = wanted.size(), seen = 0;
  std::vector<ObjectId> small, arrays; // still to be read, each in order of addresses
  auto meet = [&](ObjectId object) {
    if (!met.claim(object))
      return;
    missing -= is_wanted.test(object);
    (edges.of(object).size() < large ? small : arrays).push_back(object);
  };
  auto read_all_of = [&](std::vector<ObjectId> &list, u64 &at) {
    for (; at < list.size() && missing && seen < most_edges; ++at)
      for (ObjectId target : edges.of(list[at]))
        ++seen, meet(target);
  };
  u64 of_small = 0, of_arrays = 0;
  for (const std::vector<OwnedRoot> &rank : roots) {
    for (const OwnedRoot &root : rank)
      meet(root.object);
    read_all_of(small, of_small);
  }
  while (missing && seen < most_edges && (of_small < small.size() || of_arrays < arrays.size())) {
    read_all_of(small, of_small);
    read_all_of(arrays, of_arrays);
  }
  return missing == 0;
}

// Removes dead hubs: otherwise garbage would be an owner.
void keep_live(const Snapshot &snapshot, std::vector<ObjectId> &hubs) {
  if (hubs.empty() || are_reached(snapshot, hubs))
    return;
  const HeapBits &live = snapshot.live().objects;
  std::erase_if(hubs, [&](ObjectId object) { return !live.test(snapshot.index().address(object)); });
}

// Returns those of `all` that hubs reach directly or through each other. A timer that is in no queue belongs to no hub.
std::vector<ObjectId> linked_to(const Snapshot &snapshot, const std::vector<ObjectId> &hubs,
                                const std::vector<ObjectId> &all) {
  const Edges edges = snapshot.graph().edges();
  ObjectBits left(all.empty() ? 0 : edges.objects());
  for (ObjectId object : all)
    left.set(object);
  std::vector<ObjectId> out, work = all.empty() ? std::vector<ObjectId>() : hubs;
  while (!work.empty()) {
    const ObjectId from = work.back();
    work.pop_back();
    for (ObjectId target : edges.of(from))
      if (left.test(target)) {
        left.reset(target);
        out.push_back(target);
        work.push_back(target);
      }
  }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

// Objects of one type that together are one owner. `linked`: the type of the objects that they list, which refer to
// each other without owning each other: whoever holds one timer reaches all timers.
// Sources: dotnet/runtime src/libraries/Microsoft.Extensions.DependencyInjection/src/ServiceProvider.cs,
// System.Private.CoreLib/src/System/Threading/{Timer,ThreadPoolWorkQueue}.cs,
// System.Net.Sockets/src/System/Net/Sockets/SocketAsyncEngine.Unix.cs.
struct RankedOwners::Hub {
  OwnerRank rank;
  const char *type, *linked, *name;
  bool is_known = false; // true: from the fixed list; its objects are not hubs if there are too many of them
  // True: the hub owns what it holds, whoever reaches the hub. False: earlier ranks own what they reach; for example a
  // static field that keeps a pending call alive owns the context that flows with the call.
  bool owns_alone() const { return rank != OwnerRank::flows; }
  u64 most() const {
    return rank == OwnerRank::services ? most_containers : rank == OwnerRank::flows ? ~u64{0} : most_of_a_hub;
  }
};

const std::vector<RankedOwners::Hub> &RankedOwners::known_hubs() {
  static const std::vector<Hub> all = {
      {OwnerRank::services, "Microsoft.Extensions.DependencyInjection.ServiceProvider", nullptr, services_name, true},
      {OwnerRank::flows, "System.Threading.ExecutionContext", nullptr, what_flows, true},
      {OwnerRank::plumbing, "System.Threading.TimerQueue", "System.Threading.TimerQueueTimer", "the runtime's timers",
       true},
      {OwnerRank::plumbing, "System.Net.Sockets.SocketAsyncEngine", nullptr, "sockets that wait for data", true},
      {OwnerRank::plumbing, "System.Threading.ThreadPoolWorkQueue", nullptr, "the thread pool's queue", true},
  };
  return all;
}

bool RankedOwners::leads_through_hub(const Snapshot &snapshot, std::span<const ObjectId> path) {
  bool was_linked = false;
  ReferenceReader reader(snapshot.references());
  OpenedObject opened;
  for (ObjectId object : path) {
    bool linked = false;
    if (reader.open(snapshot.index().address(object), opened)) {
      const std::string &name = snapshot.runtime().types().name(opened.type->method_table);
      for (const Hub &hub : known_hubs()) {
        if (name == hub.type && hub.owns_alone())
          return true;
        linked |= hub.linked && name == hub.linked;
      }
    }
    if (linked && was_linked)
      return true;
    was_linked = linked;
  }
  return false;
}

WayHubs RankedOwners::way_hubs(const Snapshot &snapshot) {
  std::set<std::string_view> names;
  for (const Hub &hub : known_hubs())
    for (const char *name : {hub.type, hub.linked})
      if (name)
        names.insert(name);
  ObjectsByType found = objects_by_type(snapshot, names);
  std::vector<ObjectId> live;
  for (const Hub &hub : known_hubs()) {
    keep_holders(snapshot, hub, found[hub.type]);
    live.insert(live.end(), found[hub.type].begin(), found[hub.type].end());
  }
  keep_live(snapshot, live);
  std::sort(live.begin(), live.end());
  WayHubs out;
  for (const Hub &hub : known_hubs()) {
    const std::vector<ObjectId> &objects = found[hub.type];
    for (ObjectId object : objects)
      if (std::binary_search(live.begin(), live.end(), object))
        out.owned[hub.rank].push_back({object, owner_of(snapshot, hub)});
    if (hub.rank != OwnerRank::plumbing)
      continue;
    out.queues.insert(out.queues.end(), objects.begin(), objects.end());
    if (const auto linked = hub.linked ? found.find(hub.linked) : found.end(); linked != found.end())
      out.linked.insert(out.linked.end(), linked->second.begin(), linked->second.end());
  }
  return out;
}

OwnerRank RankedOwners::first_early_hub(const Snapshot &snapshot) {
  OwnerRank first = OwnerRank::chance;
  const HeapTypes &types = snapshot.references().types();
  for (u32 i = 0; i < types.size(); ++i)
    for (const Hub &hub : known_hubs())
      if (is_early(hub.rank) && hub.rank < first &&
          snapshot.runtime().types().name(types[TypeId{i}].method_table) == hub.type)
        first = hub.rank;
  return first;
}

// Removes objects of which there are too many to be hubs, and contexts that hold nothing.
void RankedOwners::keep_holders(const Snapshot &snapshot, const Hub &hub, std::vector<ObjectId> &objects) {
  if (objects.size() > hub.most() && hub.is_known)
    objects.clear();
  if (hub.rank == OwnerRank::flows) {
    const Edges edges = snapshot.graph().edges();
    std::erase_if(objects, [&](ObjectId object) { return edges.of(object).empty(); });
  }
}

OwnerId RankedOwners::owner_of(const Snapshot &snapshot, const Hub &hub) {
  return OwnerId{static_cast<u32>(snapshot.owners().owners.size() + static_cast<u64>(&hub - known_hubs().data()))};
}

// The container is the first hub.
OwnerId container_of_services(const Snapshot &snapshot) {
  return OwnerId{static_cast<u32>(snapshot.owners().owners.size())};
}

bool is_hub(const Snapshot &snapshot, OwnerId id) { return static_cast<u32>(id) >= snapshot.owners().owners.size(); }

OwnerRank rank_of_way(std::span<const OwnerRank> ranks, OwnerId id) {
  const u32 i = static_cast<u32>(id);
  return i < ranks.size() ? ranks[i] : RankedOwners::known_hubs()[i - ranks.size()].rank;
}

WayOwner way_owner(const Snapshot &snapshot, OwnerId id) {
  const std::vector<RootOwners::Owner> &owners = snapshot.owners().owners;
  if (is_hub(snapshot, id)) {
    const char *name = RankedOwners::known_hubs()[static_cast<u32>(id) - owners.size()].name;
    return {name, name};
  }
  const RootOwners::Owner &owner = owners[static_cast<u32>(id)];
  return {owner.name, owner.source, name_of(owner.kind), owner.kind == RootKind::static_field, owner.conservative};
}

const char *name_of(OwnerRank rank) {
  switch (rank) {
  case OwnerRank::own: return "own";
  case OwnerRank::services: return "services";
  case OwnerRank::framework: return "framework";
  case OwnerRank::flows: return "flows";
  case OwnerRank::own_frames: return "own_frames";
  case OwnerRank::frames: return "frames";
  case OwnerRank::plumbing: return "plumbing";
  case OwnerRank::chance: return "chance";
  }
  return "";
}

std::vector<OwnerRank> ranks_of_owners(const Snapshot &snapshot) {
  const RootOwners &base = snapshot.owners();
  const RootSet &roots = snapshot.roots();
  const FrameworkNames framework(snapshot.assemblies());
  std::vector<OwnerRank> out(base.owners.size(), OwnerRank::chance);
  std::vector<bool> is_known(base.owners.size()); // skips repeats: an owner may have millions of roots
  for (u64 i = 0; i < roots.roots.size(); ++i)
    if (const u32 owner = base.owner_of[i]; !is_known[owner]) {
      is_known[owner] = true;
      out[owner] = rank_of(base.owners[owner], roots.name(roots.roots[i]), framework);
    }
  return out;
}

std::vector<OwnedRoot> roots_that_count(const Snapshot &snapshot, OnStacks on_stacks) {
  std::vector<OwnedRoot> out;
  for (const OwnedRoot &root : snapshot.owned_roots().roots)
    if (on_stacks == OnStacks::count || !is_on_stack(snapshot.owners().owners[static_cast<u32>(root.owner)].kind))
      out.push_back(root);
  return out;
}

std::vector<std::vector<OwnedRoot>> roots_by_rank(const Snapshot &snapshot, OnStacks on_stacks) {
  const std::vector<OwnerRank> rank = ranks_of_owners(snapshot);
  std::vector<std::vector<OwnedRoot>> out(static_cast<u64>(OwnerRank::chance) + 1);
  for (const OwnedRoot &root : roots_that_count(snapshot, on_stacks))
    out[static_cast<u64>(rank[static_cast<u32>(root.owner)])].push_back(root);
  return out;
}

RankedOwners::RankedOwners(const Snapshot &snapshot, std::span<const std::string> more) {
  std::vector<Hub> all;
  for (const std::string &type : more)
    if (std::none_of(known_hubs().begin(), known_hubs().end(), [&](const Hub &hub) { return type == hub.type; }))
      all.push_back({OwnerRank::services, type.c_str(), nullptr, type.c_str()});
  all.insert(all.end(), known_hubs().begin(), known_hubs().end());
  std::set<std::string_view> names;
  for (const Hub &hub : all) {
    names.insert(hub.type);
    if (hub.linked)
      names.insert(hub.linked);
  }
  ObjectsByType found = objects_by_type(snapshot, names);
  std::vector<ObjectId> hubs;
  for (const Hub &hub : all) {
    std::vector<ObjectId> &list = found[hub.type];
    keep_holders(snapshot, hub, list);
    hubs.insert(hubs.end(), list.begin(), list.end());
  }
  keep_live(snapshot, hubs);
  std::sort(hubs.begin(), hubs.end());
  for (const Hub &hub : all) {
    std::erase_if(found[hub.type],
                  [&](ObjectId object) { return !std::binary_search(hubs.begin(), hubs.end(), object); });
    if (hub.linked)
      found[hub.linked] = linked_to(snapshot, found[hub.type], found[hub.linked]);
  }
  const RootOwners &base = snapshot.owners();
  const RootSet &roots = snapshot.roots();
  const u32 count = static_cast<u32>(base.owners.size());
  const std::vector<OwnerRank> rank = ranks_of_owners(snapshot);
  std::vector<u32> order(count);
  for (u32 i = 0; i < count; ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return rank[a] < rank[b]; });

  std::vector<u32> place(count);
  auto at = order.begin();
  for (u8 r = 0; r <= static_cast<u8>(OwnerRank::chance); ++r) {
    for (const Hub &hub : all)
      if (hub.rank == static_cast<OwnerRank>(r))
        add_hub(hub, found[hub.type], found[hub.linked ? hub.linked : ""], snapshot.graph().objects());
    if (at != order.end() && rank[*at] == static_cast<OwnerRank>(r) && !list_.empty())
      ranks_.push_back(size());
    for (; at != order.end() && rank[*at] == static_cast<OwnerRank>(r); ++at) {
      const RootOwners::Owner &owner = base.owners[*at];
      place[*at] = size();
      list_.push_back({rank[*at], owner.name, owner.source, name_of(owner.kind)});
    }
  }
  if (ranks_.empty())
    ranks_.push_back(size());
  for (u64 i = 0; i < roots.roots.size(); ++i)
    if (ObjectId object = snapshot.index().find(roots.roots[i].object); object != no_object)
      roots_.push_back({object, OwnerId{place[base.owner_of[i]]}});
}

void RankedOwners::add_hub(const Hub &hub, const std::vector<ObjectId> &hubs, const std::vector<ObjectId> &linked,
                           u64 objects) {
  if (hubs.empty())
    return;
  if (!list_.empty())
    ranks_.push_back(size());
  const OwnerId id{size()};
  list_.push_back({hub.rank, hub.name, hub.name});
  for (ObjectId object : hubs)
    (hub.owns_alone() ? hubs_ : roots_).push_back({object, id});
  if (!linked.empty() && !links_)
    links_ = ObjectBits(objects);
  for (ObjectId object : linked) {
    links_->set(object);
    roots_.push_back({object, id});
  }
}

Owners RankedOwners::view() const {
  Owners out;
  out.count = size();
  out.precise = static_cast<u32>(
      std::count_if(list_.begin(), list_.end(), [](const Owner &owner) { return owner.rank != OwnerRank::chance; }));
  out.roots = roots_;
  out.ranks = ranks_;
  out.hubs = hubs_;
  out.links = links_ ? &*links_ : nullptr;
  return out;
}

} // namespace dnheap
