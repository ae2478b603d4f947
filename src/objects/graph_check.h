// check_graph: checks dnheap's own results for a heap against each other: index, edges, marking and dominator tree are
// computed in different ways and must agree. Costs one pass over objects and edges with two random accesses per edge,
// one search over the objects that precise owners reach, and two bits per object. Call it from one thread; it starts
// threads of its own.
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
  u64 expected_edges = 0; // references that lead to objects, counted without a graph
};

struct Invariant {
  const char *name = ""; // in words
  u64 checked = 0, violations = 0;
  Address first = 0; // the first object that violates it; 0: no particular one
};

// Leaves out invariants that depend on a violated one. Throws Interrupted.
std::vector<Invariant> check_graph(const GraphParts &parts, unsigned threads, const Watch &watch);

} // namespace dnheap
