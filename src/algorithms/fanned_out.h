// FannedOut: objects whose dominator is known before any search. Where one object, an array as a rule, has a large
// share of all references (the list of all orders, the table of a cache), whatever it refers to and nothing reaches
// without it is dominated by it directly: every way there leads through it, and its own reference skips all between.
// Whatever else refers to such an object says nothing more of it, and these references are the ones that go anywhere.
// Costs a look at each object's number of references, a search of what is reached without the array, which is given up
// when that is much, and one look at each reference; two bits per object.
#pragma once
#include "algorithms/edges.h"
#include "algorithms/owners.h"
#include "base/watch.h"

namespace dnheap {

struct RootsByOwner;

struct FannedOut {
  ObjectId from = no_object; // no_object: no object has so many references, and nothing is fanned out
  ObjectBits objects;        // what nothing reaches may be among them; none is left out
  // Those of them that refer to nothing but what is fanned out or left out: no search needs to enter them.
  ObjectBits closed;
  u64 closed_count = 0;
};

// `left_out`: objects without references of their own that one object refers to at most.
FannedOut find_fanned_out(const Edges &edges, const Owners &owners, const RootsByOwner &roots,
                          const ObjectBits &left_out, unsigned threads, const Watch &watch);

} // namespace dnheap
