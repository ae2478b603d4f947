// DepthFirst: objects numbered in the order in which a search from the owners first meets them, fields and elements in
// their order: what dominators are worked out on. Vertex 0 stands above all owners, then each owner is a vertex
// followed by what is first met from it, rank by rank. Strings and other objects without references of
// their own that are referred to once at most (a majority) are left out: whoever refers to them dominates them. Costs
// 16 bytes per vertex, 4 per object; one thread searches, all count references.
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

// Roots, hubs among them, in order of their owners, checked.
struct RootsByOwner {
  std::vector<u64> first; // by owner, one more than owners
  std::vector<ObjectId> objects;

  RootsByOwner(const Owners &owners, u64 object_count);
  std::span<const ObjectId> of(u32 owner) const {
    return std::span(objects).subspan(first[owner], first[owner + 1] - first[owner]);
  }
};

// What is kept of a vertex, in one cache line. The members are used by the search first, then by the solver.
struct Vertex {
  u32 ancestor;  // the parent in the search tree; solver: the nearest ancestor after path compression
  u32 parent;    // search: low half of the edge cursor; solver: the parent
  u32 semi;      // search: high half of the edge cursor; solver: the least semidominator on the compressed path
  u32 dominator; // search: edges left; solver: the semidominator; at last the dominator
};

struct DepthFirst {
  // Throws Error when objects and owners are more than 2^32 - 2.
  DepthFirst(const Edges &edges, const Owners &owners, const RootsByOwner &roots, unsigned threads, const Watch &watch);

  u32 vertices = 0;           // numbers are below
  std::vector<u32> rank_ends; // vertices from one to the next are reached by owners of one rank, and by none before
  LargeArray<u32> number;     // DepthFirstNumber by ObjectId; 0: not reached, or left out
  LargeArray<u32> object;    // by DepthFirstNumber: ObjectId, or number of objects + owner; vertex 0: that + all owners
  LargeArray<Vertex> vertex; // by DepthFirstNumber: ancestor and semi are the parent, the rest 0
  ObjectBits left_out;       // objects without references of their own, referred to once or never
  FannedOut fanned_out;      // entered from where they are fanned out, whatever refers to them; not if they are closed
  ObjectBits settled;        // these and those
};

} // namespace dnheap
