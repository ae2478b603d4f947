// Graph: all references of the heap as arrays, and what follows from them: who would be freed with whom, the shortest
// way from a root, what objects reach. Building it takes one parallel pass and 12 bytes per object, 4 per reference (16
// and 8 while it is built). Referrers, dominators and searches are made at their first use and say what they cost. A
// value of one word, good as long as its Snapshot. What returns spans may be called from the Snapshot's thread only;
// the spans may be read from any.
#pragma once
#include "dnheap/object.h"
#include "dnheap/roots.h"

namespace dnheap::DNHEAP_ABI {

#ifdef __has_cpp_attribute
#if __has_cpp_attribute(gnu::no_dangling)
// What GraphEdges are asked for is the Graph's, and stays when they go; GCC 14 supposes otherwise.
#define DNHEAP_NO_DANGLING [[gnu::no_dangling]]
#endif
#endif
#ifndef DNHEAP_NO_DANGLING
#define DNHEAP_NO_DANGLING
#endif

// The objects that object i refers to (or that refer to it) are targets[first[i]] up to targets[first[i + 1]]. An
// object may refer to itself, and to another one several times.
struct GraphEdges {
  std::span<const std::uint64_t> first = {}; // one more than objects; empty = no objects
  std::span<const ObjectId> targets = {};

  DNHEAP_NO_DANGLING std::span<const ObjectId> of(ObjectId object) const {
    const std::uint64_t begin = first[number_of(object)];
    return targets.subspan(begin, first[number_of(object) + 1] - begin);
  }
};

struct Retained {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0; // what they take in the heap
  bool operator==(const Retained &) const = default;
};

// What roots belong together: one per static field, per thread static, per thread's stack, per kind of handle and type
// of its object, and one for the finalizer queue.
struct Owner {
  std::string name = {}; // "static Shop.Cache._items", "handle:pinned System.Byte[]", "stack of thread 4711"
  RootKind kind = RootKind::handle;
  bool conservative = false; // owns only what no other one reaches
  Retained retained = {};    // what would be freed without it
};

struct Path {
  std::string owner = {};             // as in Owner
  std::vector<ObjectId> objects = {}; // from the root's object to the one in question
};

class Graph {
public:
  std::uint64_t objects() const;
  std::uint64_t bad_references() const;                // that lead to no object; left out
  Address address(ObjectId object) const;              // of one below objects(), as everywhere here
  std::optional<ObjectId> find(Address address) const; // nothing: no object begins there
  Object object(ObjectId object) const;
  std::span<const TypeId> types() const;     // by object
  std::uint64_t size(ObjectId object) const; // what it takes in the heap

  // In the order of the fields; dependent handles' secondaries and LoaderAllocators last. 8 bytes per object more,
  // kept.
  GraphEdges references() const;
  // The same turned round, ascending: 8 bytes per object, 4 per reference, a random access per reference; kept.
  GraphEdges referrers() const;

  // Exact, from the dominator tree of the whole heap: some 10 s for 46 million objects, up to 45 bytes per object while
  // it is built, then 24; kept. Then O(1). Nothing: no root reaches the object.
  std::optional<Retained> retained(ObjectId object) const;
  // Through whom every way from a root leads; nothing: through no single object, or no root reaches it.
  std::optional<ObjectId> dominator(ObjectId object) const;
  std::vector<Owner> owners() const;
  Retained shared() const;      // held by several owners, by none alone
  Retained unreachable() const; // held by none
  // What would be freed if all objects of a set went: one search each, two bits per object. `in_set` may be called from
  // several threads at once.
  Retained retained_by(const std::function<bool(ObjectId)> &in_set) const;

  // What they reach, themselves included, whoever else holds that. One search.
  Retained closure(std::span<const ObjectId> objects) const;
  // From the nearest root; precise ones first, however long the way. One breadth-first search, 4 bytes per object.
  // Nothing: no root reaches it.
  std::optional<Path> shortest_path(ObjectId object) const;
  // From every owner that leads to it a shortest one, the nearest `most`. One search over referrers().
  std::vector<Path> paths_from_owners(ObjectId object, std::uint64_t most) const;

private:
  friend class State;
  explicit Graph(State *state) : state_(state) {}
  State *state_;
};

} // namespace dnheap::DNHEAP_ABI
