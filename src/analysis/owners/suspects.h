// Suspects: who holds most of the live memory, described so that a developer recognizes the place: the owner, the path
// from it to the collection (chain, object) where the bytes spread out, and the contents. Found on the dominator tree
// of RankedOwners, going down from each owner as long as one object holds most of it. Costs that tree (the snapshot's
// graph, some 40 bytes per object) and a look at the children of the objects on the path. One thread.
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
  // collection: many objects below one; chain: objects linked one after the other; many: objects of one type that
  // several owners share, or that one owner holds in several places; object: one that is large by itself.
  enum class Kind : u8 { collection, chain, many, object };
  struct Step {
    std::string field; // "._sessions"; empty if no single reference leads there
    std::string type;
    Address address = 0;
    std::string call; // the method whose pending call it holds; empty: none
  };
  Kind kind = Kind::collection;
  std::string owner;       // "static Shop.Cache._items"
  std::vector<Step> steps; // from the owner to where the bytes spread out
  u64 shown = 0;           // number of steps up to the last one that a developer knows; further steps are inside of a
                           // collection
  std::string element;     // the type of the many objects; empty: several types, or values, which are no objects
  // The first element's method if the elements are suspended runtime-async calls, whose types do not name it.
  std::string element_call;
  u64 elements = 0;
  u64 room = 0;           // of an emptied collection: how many entries it has room for
  Address first = 0;      // address of one element; 0: there are none
  std::string weak_table; // how dependent handles keep the elements or what hangs from them, and in which table; empty:
                          // they do not
  std::string calls;      // for a delegate on the path: the methods that it calls
  u64 retained = 0, objects = 0;
  AlsoHeld also_held;     // also held by owners of a later rank: so much less would be freed now
  bool is_own = false;    // the owner belongs to the program itself
  bool by_chance = false; // the owner is words on stacks
  std::string signature;  // of the owner; of the first owner if several share
  Address example = 0;    // the object to look at next; 0: none
  // How many of KeptResources it holds, by KeptKind.
  std::array<u64, kept_kind_count> kept{};

  std::string brief_element() const;
  std::string text() const; // "ConcurrentDictionary<String, Session>: 15,000 × Shop.Session, 6.2 KiB each"
  std::string way() const;  // "static Shop.Cache._items._tables"
  // "methods on stacks hold 1.2 MiB of it, too: only 3 KiB would be freed at once"; empty if others hold less than a
  // tenth of it.
  std::string also_text() const;

private:
  std::string own_text() const; // without the weak table
};

struct Suspects {
  std::vector<Suspect> list;            // most bytes first
  u64 live_objects = 0, live_bytes = 0; // everything that the roots reach
  u64 suspects_bytes = 0;               // of the list; no byte counts twice
  KeptResources kept;
  std::optional<ReachedObjects> live; // objects that the roots reach
};

const char *name_of(Suspect::Kind kind); // "collection"

// Returns the suspects that hold at least `least_share` of the live bytes, 32 at most. `hubs`: as for RankedOwners.
Suspects find_suspects(Snapshot &snapshot, std::span<const std::string> hubs = {}, double least_share = 0.02);

// Adds the cost of find_suspects to the plan.
void foresee_suspects(Plan &plan);

// "Dictionary<String, Shop.Session>": without the framework's namespaces.
std::string brief_type_name(std::string_view type);

} // namespace dnheap
