// PlacesInTree: describes a place in the dominator tree: its bytes and type, its largest child, and whether it belongs
// to a collection. The search for suspects and the chains of objects ask the same functions, so that both agree on
// which objects are inner ones. A look at the place, or at its children. Any thread.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/objects/inside_of.h"
#include "analysis/suspects/held_contents.h"
#include "objects/object_graph.h"

#include <span>

namespace dnheap {

struct Fan { // children of a place
  TreePlace largest{};
  u64 largest_bytes = 0, count = 0;
};

class PlacesInTree {
public:
  static constexpr u32 no_type = ~u32{0}; // of owners

  // All must outlive this object.
  PlacesInTree(const ObjectGraph &graph, const DominatorTree &tree, const Insides &insides)
      : graph_(graph), tree_(tree), insides_(insides) {}

  u64 bytes(TreePlace at) const { return tree_.retained(at).bytes; }
  u32 type_at(TreePlace at) const;
  Fan fan_of(TreePlace at) const;
  // Returns the sum of some places.
  HeldGroup group_of(std::span<const TreePlace> places) const;
  // True for a node of a collection.
  bool is_node(TreePlace at) const;
  // True if the child is an inner object of a collection, a delegate or a task.
  bool is_part(TreePlace parent, TreePlace child) const;
  // True if `node` is a node of a collection and has siblings of its type: the first and the last segment of a queue
  // hang from it side by side.
  bool has_several_nodes(TreePlace at, TreePlace node) const;

private:
  const ObjectGraph &graph_;
  const DominatorTree &tree_;
  const Insides &insides_;
};

} // namespace dnheap
