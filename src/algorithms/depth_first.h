// DepthFirst: objects numbered in the order in which a search from the owners first meets them, fields and elements in
// their order: what dominators are worked out on. Vertex 0 stands above all owners, then each owner is a vertex
// followed by what is first met from it; precise owners come first. Strings and other objects without references of
// their own that are referred to once at most (a majority) are left out: whoever refers to them dominates them. Costs
// 16 bytes per vertex, 4 per object; one thread searches, all count references.
#pragma once
#include "algorithms/edges.h"
#include "algorithms/object_bits.h"
#include "algorithms/owners.h"
#include "base/large_array.h"
#include "base/watch.h"

#include <vector>

namespace dnheap {

enum class DepthFirstNumber : u32 {};

// Roots in order of their owners, checked.
struct RootsByOwner {
  std::vector<u64> first; // by owner, one more than owners
  std::vector<ObjectId> objects;

  RootsByOwner(const Owners &owners, u64 object_count);
  std::span<const ObjectId> of(u32 owner) const {
    return std::span(objects).subspan(first[owner], first[owner + 1] - first[owner]);
  }
};

// What the search and then the dominators keep of a vertex, in one cache line: a look at a vertex costs one miss.
struct Vertex {
  u32 ancestor; // first the parent in the search tree, then whatever path compression makes of it
  u32 label;    // of the path from here up, the vertex with the least semidominator; the search: low half of the cursor
  u32 semi;     // that semidominator, at first the parent; the search: high half of the cursor
  u32 bucket;   // first or next vertex with the same semidominator, at last the dominator; the search: edges to go
};

struct DepthFirst {
  // Throws Error when objects and owners are more than 2^32 - 2.
  DepthFirst(const Edges &edges, const Owners &owners, const RootsByOwner &roots, unsigned threads, const Watch &watch);

  u32 vertices = 0;           // numbers are below
  u32 first_conservative = 0; // vertices from here on are reached by conservative owners only
  LargeArray<u32> number;     // DepthFirstNumber by ObjectId; 0: not reached, or left out
  LargeArray<u32> object;    // by DepthFirstNumber: ObjectId, or number of objects + owner; vertex 0: that + all owners
  LargeArray<Vertex> vertex; // by DepthFirstNumber: ancestor and semi are the parent, the rest 0
  ObjectBits left_out;       // objects without references of their own, referred to once or never
};

} // namespace dnheap
