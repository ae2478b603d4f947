// Graph: all references of the heap as arrays, and what follows from them: retained sizes, the shortest path from a
// root, the objects that others reach. Building it takes one parallel pass and 12 bytes per object, 4 per reference (16
// and 8 while it is built). Referrers, dominators and searches are computed at their first use, at the costs given
// below. A value of one word, valid as long as its Snapshot. Functions that return spans may be called from the
// Snapshot's thread only; the spans may be read from any.
#pragma once
#include "dnheap/object.h"
#include "dnheap/roots.h"

namespace dnheap::DNHEAP_ABI {

#ifdef __has_cpp_attribute
#if __has_cpp_attribute(gnu::no_dangling)
// The spans in GraphEdges belong to the Graph and outlive the GraphEdges; GCC 14 assumes otherwise.
#define DNHEAP_NO_DANGLING [[gnu::no_dangling]]
#endif
#endif
#ifndef DNHEAP_NO_DANGLING
#define DNHEAP_NO_DANGLING
#endif

// The objects that object i refers to (or that refer to it) are targets[first[i]] up to targets[first[i + 1]]. An
// object may refer to itself, and several times to another one.
struct GraphEdges {
  std::span<const std::uint64_t> first = {}; // objects + 1 entries; empty = no objects
  std::span<const ObjectId> targets = {};

  DNHEAP_NO_DANGLING std::span<const ObjectId> of(ObjectId object) const {
    const std::uint64_t begin = first[number_of(object)];
    return targets.subspan(begin, first[number_of(object) + 1] - begin);
  }
};

struct Retained {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0; // their size in the heap
  bool operator==(const Retained &) const = default;
};

// A group of roots: one owner per static field, per thread static, per thread's stack, per kind of handle and type of
// its object, and one for the finalizer queue.
struct Owner {
  std::string name = {}; // "static Shop.Cache._items", "handle:pinned System.Byte[]", "stack of thread 4711"
  RootKind kind = RootKind::handle;
  bool conservative = false; // owns only objects that no other owner reaches
  Retained retained = {};    // what would be freed without it
};

struct Path {
  std::string owner = {};             // as in Owner
  std::vector<ObjectId> objects = {}; // from the root's object to the one asked for
};

class Graph {
public:
  std::uint64_t objects() const;
  std::uint64_t bad_references() const;                // lead to no object; not in the graph
  Address address(ObjectId object) const;              // `object` must be below objects(), as everywhere here
  std::optional<ObjectId> find(Address address) const; // nullopt: no object begins there
  Object object(ObjectId object) const;
  std::span<const TypeId> types() const;     // by object
  std::uint64_t size(ObjectId object) const; // its size in the heap

  // Targets are in field order; dependent handles' secondaries and LoaderAllocators come last. Takes 8 bytes per object
  // more, which stay allocated.
  GraphEdges references() const;
  // The same edges reversed, ascending. Takes 8 bytes per object, 4 per reference, and a random access per reference;
  // stays allocated.
  GraphEdges referrers() const;

  // Exact, from the dominator tree of the whole heap, which takes some 10 s for 46 million objects and up to 45 bytes
  // per object while it is built, then 24; it stays allocated. Then O(1). Nullopt: no root reaches the object.
  std::optional<Retained> retained(ObjectId object) const;
  // Returns the object on every path from the roots; nullopt if there is no such single object or no root reaches it.
  std::optional<ObjectId> dominator(ObjectId object) const;
  std::vector<Owner> owners() const;
  Retained shared() const;      // several owners hold it together, none alone
  Retained unreachable() const; // no owner holds it
  // Returns what would be freed if all objects of a set went. Each call costs one search, and two bits per object.
  // `in_set` may be called from several threads at once.
  Retained retained_by(const std::function<bool(ObjectId)> &in_set) const;

  // Returns everything that the objects reach, the objects included, even if other objects hold it, too. Costs one
  // search.
  Retained closure(std::span<const ObjectId> objects) const;
  // Returns the path from the nearest root. Paths from precise roots win over shorter ones from conservative roots.
  // Costs one breadth-first search and 4 bytes per object. Nullopt: no root reaches it.
  std::optional<Path> shortest_path(ObjectId object) const;
  // Returns a shortest path from each owner that reaches it, for the nearest `most` owners. Costs one search over
  // referrers().
  std::vector<Path> paths_from_owners(ObjectId object, std::uint64_t most) const;

private:
  friend class State;
  explicit Graph(State *state) : state_(state) {}
  State *state_;
};

} // namespace dnheap::DNHEAP_ABI
