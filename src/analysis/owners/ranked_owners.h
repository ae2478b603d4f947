// RankedOwners: the owners of the heap in the order in which they own. What a program's own static field holds is that
// field's, even where the runtime's timers or a method's local variable hold it, too: a rank owns only what those
// before it do not reach. Between the ranks stand hubs: objects that half the program reaches and that own by
// themselves, the container of services and the runtime's queues of timers, sockets and work. Contexts that flow with
// calls are like roots: a thread has one while it runs the call, a state machine while the call waits. Whose a type is,
// is told by framework_names.h. Costs a look at each object's type and at all roots; a walk of the heap where a short
// search does not tell whether hubs are alive. One thread.
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

// In their order. What a method on a stack holds comes behind what stays: where a thread happens to stand is another
// place in the next dump, and a variable that nobody needs any more may stand there, too.
enum class OwnerRank : u8 {
  own,        // static fields of the program's types
  services,   // the container of services
  framework,  // the framework's static fields, objects whose finalizer is due
  flows,      // what flows with calls: values of AsyncLocal
  own_frames, // the program's methods on stacks
  frames,     // the framework's, and its thread statics
  plumbing,   // the runtime's queues, handles
  chance,     // words on stacks
};

const char *name_of(OwnerRank rank); // "own", "own_frames", …

// By the number of the owner in Snapshot::owners(). A look at each root.
std::vector<OwnerRank> ranks_of_owners(Snapshot &snapshot);

enum class OnStacks : u8 { count, left_out };

// With the owners of Snapshot::owners().
std::vector<OwnedRoot> roots_that_count(Snapshot &snapshot, OnStacks on_stacks);
// The roots by rank, with the owners of Snapshot::owners(): who looks for a way asks the first ranks first.
std::vector<std::vector<OwnedRoot>> roots_by_rank(Snapshot &snapshot, OnStacks on_stacks = OnStacks::count);

// Whom a way begins with: an owner of Snapshot::owners(), or, with one of the numbers behind theirs, a hub: what that
// holds is its own, whoever reaches it.
struct WayOwner {
  std::string name, source;
  const char *kind = "hub"; // as name_of(RootKind)
  bool is_static = false, conservative = false;
};
OwnerId container_of_services(Snapshot &snapshot);
bool is_hub(Snapshot &snapshot, OwnerId id);
WayOwner way_owner(Snapshot &snapshot, OwnerId id);
// Of a way's owner, `ranks` being those of Snapshot::owners().
OwnerRank rank_of_way(std::span<const OwnerRank> ranks, OwnerId id);

// The hubs and contexts, as ways meet them. What is in one of the runtime's own queues waits there, whoever reaches it.
struct WayHubs {
  std::map<OwnerRank, std::vector<OwnedRoot>> owned; // those that are alive, with what ways through them begin with
  std::vector<ObjectId> queues;                      // alive or not
  std::vector<ObjectId> linked;                      // refer to each other without owning each other
};

class RankedOwners {
public:
  struct Owner {
    OwnerRank rank = OwnerRank::own;
    std::string name, source; // as in RootOwners; of hubs what they are
    const char *kind = "hub"; // as name_of(RootKind)
  };

  // `more`: full names of types whose objects are hubs, too; those of one type are one owner.
  explicit RankedOwners(Snapshot &snapshot, std::span<const std::string> more = {});
  RankedOwners(const RankedOwners &) = delete;

  const Owner &operator[](OwnerId id) const { return list_[static_cast<u32>(id)]; }
  u32 size() const { return static_cast<u32>(list_.size()); }
  // For DominatorTree. Valid as long as this.
  Owners view() const;

  // A look at the type of each object; a walk of the heap where a short search does not tell which are alive.
  static WayHubs way_hubs(Snapshot &snapshot);
  // The first rank that has one of these in the heap, alive or not; none: `chance`. A look at all types.
  static OwnerRank first_early_hub(Snapshot &snapshot);
  // Through one, or a container? A look at the types of the objects on the path.
  static bool leads_through_hub(Snapshot &snapshot, std::span<const ObjectId> path);

private:
  friend WayOwner way_owner(Snapshot &snapshot, OwnerId id);
  friend OwnerRank rank_of_way(std::span<const OwnerRank> ranks, OwnerId id);
  struct Hub;
  static const std::vector<Hub> &known_hubs();
  static OwnerId owner_of(Snapshot &snapshot, const Hub &hub);
  static void keep_holders(Snapshot &snapshot, const Hub &hub, std::vector<ObjectId> &objects);
  void add_hub(const Hub &hub, const std::vector<ObjectId> &hubs, const std::vector<ObjectId> &linked, u64 objects);

  std::vector<Owner> list_;
  std::vector<OwnedRoot> roots_, hubs_;
  std::vector<u32> ranks_;
  std::optional<ObjectBits> links_;
};

} // namespace dnheap
