// What dnheap makes of a heap, checked against itself: index, edges, marking and dominator tree were computed by
// different ways and must agree. Costs one pass over objects and edges with two random accesses per edge, one search
// over what precise owners reach, and two bits per object. One caller; uses threads itself.
#pragma once
#include "algorithms/dominator_tree.h"
#include "objects/object_index.h"

namespace dnheap {

struct GraphParts {
  const ObjectIndex &index;
  Edges edges;
  ObjectSizes sizes;
  Owners owners;
  const DominatorTree &tree;
  const HeapBits &live;   // what marking found
  u64 expected_edges = 0; // references that lead to objects, as counted without a graph
};

struct Invariant {
  const char *name = ""; // in words
  u64 checked = 0, violations = 0;
  Address first = 0; // of the first object that violates it; 0: of none in particular
};

// Those that rest on one that does not hold are left out. Throws Interrupted.
std::vector<Invariant> check_graph(const GraphParts &parts, unsigned threads, const Watch &watch);

} // namespace dnheap
