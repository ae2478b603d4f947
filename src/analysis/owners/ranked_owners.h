// RankedOwners: the owners of the heap, and which of them comes first if several reach an object. An object that a
// static field of the program holds belongs to that field, even if the runtime's timers or a local variable hold it
// too: a rank owns only objects that earlier ranks do not reach. Hubs are objects that half the program reaches and
// that are owners themselves: the DI container and the runtime's queues of timers, sockets and work. An execution
// context flows with a call, and counts as a root: a thread holds it while it runs the call, a state machine while the
// call waits. framework_names.h decides whether a type belongs to the framework. Costs a look at each object's type and
// at all roots, and a walk of the heap if a short search cannot decide whether hubs are alive.
// Not for several threads at once.
#pragma once
#include "algorithms/owners.h"
#include "objects/roots.h"
#include "snapshot/snapshot.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// In order of ownership. Methods on stacks come after everything that lasts: in the next dump a thread stands
// elsewhere, and a method may not need its variables any more.
enum class OwnerRank : u8 {
  own,        // static fields of the program's types
  services,   // the DI container
  framework,  // static fields of the framework, objects in the finalizer queue
  flows,      // values of AsyncLocal, which flow with calls
  own_frames, // the program's methods on stacks
  frames,     // the framework's methods on stacks, and its thread statics
  plumbing,   // the runtime's queues, and handles
  chance,     // words on stacks that look like references
};

// The name of the owner of values of AsyncLocals.
inline constexpr const char *what_flows = "what flows with calls (AsyncLocal)";

const char *name_of(OwnerRank rank); // "own", "own_frames", …

// Returns the rank of each owner in Snapshot::owners(), by its number. Looks at each root.
std::vector<OwnerRank> ranks_of_owners(const Snapshot &snapshot);

enum class OnStacks : u8 { count, left_out };

// Returns the roots, with the owners of Snapshot::owners(). OnStacks::left_out leaves out those on stacks.
std::vector<OwnedRoot> roots_that_count(const Snapshot &snapshot, OnStacks on_stacks);
// Returns the roots by rank, with the owners of Snapshot::owners(). Path searches begin with the first ranks.
std::vector<std::vector<OwnedRoot>> roots_by_rank(const Snapshot &snapshot, OnStacks on_stacks = OnStacks::count);

// The owner at the beginning of a path: an owner of Snapshot::owners(), or a hub; hubs are numbered after those owners.
// A hub owns what it holds, whoever reaches the hub.
struct WayOwner {
  std::string name, source;
  const char *kind = "hub"; // as name_of(RootKind)
  bool is_static = false, conservative = false;
};
OwnerId container_of_services(const Snapshot &snapshot);
bool is_hub(const Snapshot &snapshot, OwnerId id);
WayOwner way_owner(const Snapshot &snapshot, OwnerId id);
// Returns the rank of a path's owner; `ranks` are those of Snapshot::owners().
OwnerRank rank_of_way(std::span<const OwnerRank> ranks, OwnerId id);

// The hubs and contexts, as path searches use them. An object in one of the runtime's queues belongs to that queue,
// whoever reaches it.
struct WayHubs {
  // The hubs that are alive, by rank; a path through a hub begins with its owner.
  std::map<OwnerRank, std::vector<OwnedRoot>> owned;
  std::vector<ObjectId> queues; // alive or not
  std::vector<ObjectId> linked; // objects that refer to each other without owning each other
};

class RankedOwners {
public:
  struct Owner {
    OwnerRank rank = OwnerRank::own;
    std::string name, source; // as in RootOwners; for a hub its description
    const char *kind = "hub"; // as name_of(RootKind)
  };

  // `more`: full names of further types whose objects are hubs; all objects of one type are one owner.
  explicit RankedOwners(const Snapshot &snapshot, std::span<const std::string> more = {});
  RankedOwners(const RankedOwners &) = delete;

  const Owner &operator[](OwnerId id) const { return list_[static_cast<u32>(id)]; }
  u32 size() const { return static_cast<u32>(list_.size()); }
  // Returns a view for DominatorTree, valid as long as this.
  Owners view() const;

  // Returns the hubs. Looks at the type of each object, and walks the heap if a short search cannot decide which are
  // alive.
  static WayHubs way_hubs(const Snapshot &snapshot);
  // Returns the first rank that has a hub in the heap, alive or not; `chance` if the heap has no hub. Looks at all
  // types.
  static OwnerRank first_early_hub(const Snapshot &snapshot);
  // True if the path leads through a hub or the DI container. Looks at the types of the objects on the path.
  static bool leads_through_hub(const Snapshot &snapshot, std::span<const ObjectId> path);

private:
  friend WayOwner way_owner(const Snapshot &snapshot, OwnerId id);
  friend OwnerRank rank_of_way(std::span<const OwnerRank> ranks, OwnerId id);
  struct Hub;
  static const std::vector<Hub> &known_hubs();
  static OwnerId owner_of(const Snapshot &snapshot, const Hub &hub);
  static void keep_holders(const Snapshot &snapshot, const Hub &hub, std::vector<ObjectId> &objects);
  void add_hub(const Hub &hub, const std::vector<ObjectId> &hubs, const std::vector<ObjectId> &linked, u64 objects);

  std::vector<Owner> list_;
  std::vector<OwnedRoot> roots_, hubs_;
  std::vector<u32> ranks_;
  std::optional<ObjectBits> links_;
};

} // namespace dnheap
