// DepthFirst: numbers objects in the order in which a depth-first search from the owners first reaches them, fields and
// elements in their order. Dominators are computed on these numbers. Vertex 0 is the virtual root above all owners.
// Each owner is a vertex, followed by the objects first reached from it, rank by rank. Objects without references of
// their own (strings and others; the majority) that at most one reference names are left out: their referrer dominates
// them. Costs 24 bytes per vertex, 4 per object, and 16 per core object (CoreGraph) while it searches. The search keeps
// the references that it still has to follow: 12 bytes each. One thread searches, all threads do the rest.
#pragma once
#include "algorithms/core_graph.h"
#include "algorithms/edges.h"
#include "algorithms/fanned_out.h"
#include "algorithms/object_bits.h"
#include "algorithms/owners.h"
#include "base/host/large_array.h"
#include "base/watch.h"

#include <vector>

namespace dnheap {

enum class DepthFirstNumber : u32 {};

// The roots, hubs included, sorted by owner and checked.
struct RootsByOwner {
  std::vector<u64> first; // by owner; owners + 1 entries
  std::vector<ObjectId> objects;

  RootsByOwner(const Owners &owners, u64 object_count);
  std::span<const ObjectId> of(u32 owner) const {
    return std::span(objects).subspan(first[owner], first[owner + 1] - first[owner]);
  }
};

// A vertex's data, in one cache line. Until the solver takes the vertex, the last three members are its references.
struct Vertex {
  u32 ancestor;  // the parent in the search tree; solver: the nearest ancestor after path compression
  u32 parent;    // solver: the parent
  u32 semi;      // solver: the least semidominator on the compressed path
  u32 dominator; // solver: the semidominator; at last the dominator

  CoreTargets targets() const { return {{parent, semi, dominator}}; }
};

struct DepthFirst {
  // Throws Error when objects and owners are more than 2^32 - 2.
  DepthFirst(const Edges &edges, const Owners &owners, const RootsByOwner &roots, unsigned threads, const Watch &watch);

  // Fills `object`, and gives back the memory of what only the references between vertices need.
  void find_objects(unsigned threads);

  u64 objects = 0;                 // of the heap
  u32 vertices = 0;                // all numbers are below this
  std::vector<u32> owner_vertices; // by owner, ascending
  std::vector<u32> rank_ends;      // vertices between two ends are reached by owners of one rank, not by earlier ones
  ObjectBits left_out;             // have no references of their own; referred to once or never
  FannedOut fanned_out;            // reached from their array whoever else refers to them; closed ones are not vertices
  u32 fanning = 0;                 // the vertex of that array; 0: there is none, or no root reaches it
  CoreGraph core;                  // objects with references; its records are dropped after the search
  LargeArray<u32> number;          // DepthFirstNumber by ObjectId; 0: not reached, or no vertex
  LargeArray<u32> object;    // by DepthFirstNumber: ObjectId, or number of objects + owner; vertex 0: that + all owners
  LargeArray<Vertex> vertex; // by DepthFirstNumber
  LargeArray<u32> least;     // by DepthFirstNumber: the least source of its references; the search only sees the parent
};

} // namespace dnheap
