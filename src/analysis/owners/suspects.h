// Suspects: who holds most of what is alive, told so that a developer knows the place: the owner, the way from it to
// the collection (chain, object) where the bytes spread out, and what is in it. Found on the dominator tree of
// RankedOwners, going down from each owner as long as one object holds most of it. Costs that tree (snapshot's graph,
// some 40 bytes per object) and a look at the children of the objects on the way. One thread.
#pragma once
#include "analysis/owners/also_held.h"
#include "analysis/owners/kept_resources.h"
#include "analysis/owners/reached_objects.h"
#include "analysis/plan.h"
#include "snapshot/snapshot.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

struct Suspect {
  // collection: many objects below one; chain: objects linked one behind the other; many: alike objects that several
  // owners, or an owner in several places, hold; object: one that is large by itself.
  enum class Kind : u8 { collection, chain, many, object };
  struct Step {
    std::string field; // "._sessions", empty: no single reference leads there
    std::string type;
    Address address = 0;
    std::string call; // the method whose pending call is kept in it; empty: none
  };
  Kind kind = Kind::collection;
  std::string owner;       // "static Shop.Cache._items"
  std::vector<Step> steps; // from the owner to where the bytes spread out
  u64 shown = 0;       // steps up to the last one that a developer knows: what is behind is the inside of a collection
  std::string element; // the type of what there is many of; empty: of no single type, or values, which are no objects
  // Of suspended runtime-async calls, whose types do not say it: the method of the first one.
  std::string element_call;
  u64 elements = 0;
  u64 room = 0;           // of a collection that has no entries any more: for how many it has room
  Address first = 0;      // one of the elements; 0: there are none
  std::string weak_table; // dependent handles keep the elements, or what hangs from them: how, and whose; empty: none
  std::string calls;      // of a delegate on the way: whom it calls
  u64 retained = 0, objects = 0;
  AlsoHeld also_held;     // by others, whose rank is behind the owner's: that much less would be freed now
  bool is_own = false;    // the owner is of the program itself
  bool by_chance = false; // words on stacks
  std::string signature;  // the owner's; of what several hold, the first one's
  Address example = 0;    // the object to ask about next; 0: none
  // Of KeptResources, by KeptKind: how many it holds.
  std::array<u64, kept_kind_count> kept{};

  std::string brief_element() const;
  std::string text() const; // "ConcurrentDictionary<String, Session>: 15,000 × Shop.Session, 6.2 KiB each"
  std::string way() const;  // "static Shop.Cache._items._tables"
  // "methods on stacks hold 1.2 MiB of it, too: only 3 KiB would be freed at once"; empty: nobody holds as much of it
  // that it is worth a word.
  std::string also_text() const;

private:
  std::string own_text() const; // without the weak table
};

struct Suspects {
  std::vector<Suspect> list;            // most bytes first
  u64 live_objects = 0, live_bytes = 0; // all that the roots reach
  u64 suspects_bytes = 0;               // of the list; no byte twice
  KeptResources kept;
  std::optional<ReachedObjects> live; // what the roots reach
};

const char *name_of(Suspect::Kind kind); // "collection"

// Those with at least that share of what is alive, 32 at most. `hubs`: as of RankedOwners.
Suspects find_suspects(Snapshot &snapshot, std::span<const std::string> hubs = {}, double least_share = 0.02);

// What find_suspects takes.
void foresee_suspects(Plan &plan);

// "Dictionary<String, Shop.Session>": without the framework's namespaces.
std::string brief_type_name(std::string_view type);

} // namespace dnheap
