// Object graphs without a heap: random ones of many shapes, and large ones that look like heaps.
#pragma once
#include "algorithms/edges.h"
#include "algorithms/object_sizes.h"
#include "algorithms/owners.h"

#include <string>
#include <vector>

namespace dnheap::test {

// Numbers that look random and are the same in every run.
class GraphDice {
public:
  explicit GraphDice(u64 seed = 1) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  u64 operator()(u64 sides) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return (state_ * 0x2545f4914f6cdd1d >> 32) * sides >> 32;
  }

private:
  u64 state_;
};

struct Graph {
  std::vector<u64> first{0};
  std::vector<ObjectId> targets;
  std::vector<u32> bytes;
  std::vector<OwnedRoot> roots;
  u32 owner_count = 0, precise_owners = 0;

  u32 objects() const { return static_cast<u32>(bytes.size()); }
  // Appends an object with references to those numbers.
  void add(u32 size, const std::vector<u32> &references);
  void root(u32 owner, u32 object) { roots.push_back({ObjectId{object}, OwnerId{owner}}); }

  Edges edges() const { return {first, targets}; }
  ObjectSizes sizes() const { return {bytes, {}}; }
  Owners owners() const { return {owner_count, precise_owners, roots}; }
};

// At most `most` objects: sparse or dense, local or not, with hubs, lists, leaves, several owners, objects named by
// several roots or by none, self-references, repeated references. The shape depends on the seed.
Graph random_graph(u64 seed, u32 most);

// Every other edge turned round: who refers to each object.
Graph turned_round(const Graph &graph);

// 60 % of the objects without references (strings, arrays of numbers), most references near, one in twelve to anywhere,
// one in fifty to one of a few hubs; arrays of references of 10 to 10,000 elements; lists of 50; a hundred owners.
Graph heap_like_graph(u32 objects);

// What test/programs/graph builds: an array of all nodes, lists of a thousand nodes, other links half near, half
// anywhere, a string for every fourth node, an array for every eighth.
Graph node_array_graph(u32 nodes);

// The worst shape for searches: a random recursive tree. Each node's parent is any earlier node that has room for a
// second child, so that no order follows the heap. A list holds all nodes, too, and another owner the tree. A string
// for every fourth node, an array for every eighth.
Graph recursive_tree_graph(u32 nodes);

} // namespace dnheap::test
