// Suspect: one owner's large holding, with the words for it: the owner, the path from it to the place where the bytes
// spread out, and the contents. Plain data; any thread.
#pragma once
#include "analysis/suspects/also_held.h"
#include "analysis/suspects/kept_resources.h"

#include <array>
#include <string>
#include <vector>

namespace dnheap {

struct Suspect {
  // collection: many objects below one object; chain: objects linked one after the other; many: objects of one type
  // that several owners share, or that one owner holds in several places; object: a single large object.
  enum class Kind : u8 { collection, chain, many, object };
  struct Step {
    // The field of a step (after the first) if the step before does not refer to its object directly.
    static constexpr const char *no_single_reference = "…";

    std::string field; // "._sessions"; empty for the first step
    std::string type;
    Address address = 0;
    std::string call; // the method whose pending call it holds; empty: none
  };
  Kind kind = Kind::collection;
  std::string owner;       // "static Shop.Cache._items"
  std::vector<Step> steps; // from the owner to where the bytes spread out
  // How many steps to show: up to the last one that a developer knows; further steps are inside of a collection.
  u64 shown = 0;
  std::string element; // the type of the many objects; empty: several types, or values, which are no objects
  // If the elements are suspended runtime-async calls, the first element's method: their types do not name it.
  std::string element_call;
  u64 elements = 0;
  u64 room = 0;      // for a collection of few or no values: how many entries it has room for; 0: it is not large
  Address first = 0; // address of one element; 0: there are none
  // What is known of the elements beyond their type: how dependent handles keep them (or what these hold), and in which
  // table; the method that they call; how many GCHandles hold them.
  std::string remark;
  u64 gone = 0;      // how many of the elements are WeakReferences whose target is gone
  std::string calls; // for a delegate on the path: the methods that it calls
  u64 retained = 0, objects = 0;
  AlsoHeld also_held;     // bytes that owners of a later rank also hold: they would not be freed now
  bool is_own = false;    // the owner belongs to the program itself
  bool by_chance = false; // the owner is words on stacks
  std::string signature;  // of the owner; of the first owner if several share
  Address example = 0;    // the object to look at next; 0: none
  // How many of KeptResources it holds, by KeptKind.
  std::array<u64, kept_kind_count> kept{};

  std::string brief_element() const;
  std::string text() const; // "ConcurrentDictionary<String, Session>: 15,000 × Shop.Session, 6.2 KiB each"
  std::string way() const;  // "static Shop.Cache._items._tables"
  // "methods on stacks hold 1.2 MiB of it, too: only 3 MiB would be freed at once", or that others hold all of it, too;
  // empty if others hold less than a tenth of the retained bytes.
  std::string also_text() const;

private:
  std::string own_text() const; // without the remark, and what is gone
};

const char *name_of(Suspect::Kind kind); // "collection"

// Returns a suspect's way and its text as part of a sentence. A type with which the way ends does not begin the text
// again: "static Shop.Cache._items and others … List<Session>: 15,000 × Shop.Session, 6.2 KiB each".
std::string way_and_text(const std::string &way, const std::string &text);

} // namespace dnheap
