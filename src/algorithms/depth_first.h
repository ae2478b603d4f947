// DepthFirst: numbers objects in the order in which a depth-first search from the owners first reaches them, fields and
// elements in their order. Dominators are computed on these numbers. Vertex 0 is the virtual root above all owners.
// Each owner is a vertex, followed by the objects first reached from it, rank by rank. Objects without references of
// their own (strings and others; the majority) that at most one reference names are left out: their referrer dominates
// them. Costs 16 bytes per vertex and 4 per object; one thread searches, all threads count references.
#pragma once
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

// A vertex's data, in one cache line. The search uses the members first, then the solver does.
struct Vertex {
  u32 ancestor;  // the parent in the search tree; solver: the nearest ancestor after path compression
  u32 parent;    // search: low half of the edge cursor; solver: the parent
  u32 semi;      // search: high half of the edge cursor; solver: the least semidominator on the compressed path
  u32 dominator; // search: edges left; solver: the semidominator; at last the dominator
};

struct DepthFirst {
  // Throws Error when objects and owners are more than 2^32 - 2.
  DepthFirst(const Edges &edges, const Owners &owners, const RootsByOwner &roots, unsigned threads, const Watch &watch);

  u32 vertices = 0;           // all numbers are below this
  std::vector<u32> rank_ends; // vertices between two ends are reached by owners of one rank, not by earlier ones
  LargeArray<u32> number;     // DepthFirstNumber by ObjectId; 0: not reached, or left out
  LargeArray<u32> object;    // by DepthFirstNumber: ObjectId, or number of objects + owner; vertex 0: that + all owners
  LargeArray<Vertex> vertex; // by DepthFirstNumber: ancestor and semi are the parent, the rest 0
  ObjectBits left_out;       // have no references of their own; referred to once or never
  FannedOut fanned_out;      // reached from their array whoever else refers to them; closed ones are not vertices
  ObjectBits settled;        // left_out and closed fanned-out objects: no vertices
};

} // namespace dnheap
