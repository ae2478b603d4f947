// FannedOut: objects whose dominator is known before any search. If one object, usually an array, has a large share of
// all references (the list of all orders, the table of a cache), it directly dominates those of its targets that cannot
// be reached without it. All paths to such a target lead through the array, and the array's own reference avoids every
// object that lies between on other paths. Other references to these objects change nothing, and they are the ones that
// jump around in memory. Costs a look at each object's reference count, a search that avoids the array (given up when
// it finds much), and one look at each reference; two bits per object.
#pragma once
#include "algorithms/edges.h"
#include "algorithms/owners.h"
#include "base/watch.h"

namespace dnheap {

struct RootsByOwner;

struct FannedOut {
  ObjectId from = no_object; // no_object: no object has so many references, so nothing is fanned out
  ObjectBits objects;        // may include unreachable objects; includes none that are left out
  // The fanned-out objects that refer to nothing but fanned-out or left-out objects: no search needs to enter them.
  ObjectBits closed;
  u64 closed_count = 0;
};

// `left_out`: objects without references of their own to which at most one object refers.
FannedOut find_fanned_out(const Edges &edges, const Owners &owners, const RootsByOwner &roots,
                          const ObjectBits &left_out, unsigned threads, const Watch &watch);

} // namespace dnheap
