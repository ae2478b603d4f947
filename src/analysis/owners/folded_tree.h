// FoldedTree: the dominator tree as people read it: owners at the top; below a node, all objects of one type are one
// node. Unless `is_raw`, the inner objects of collections are folded into them, and a chain of objects of one type is
// one node. A linked list makes the tree as deep as the list is long. So no function recurses, and children are
// computed when they are asked for, each place once. Nodes keep 4 bytes per object in them. Not for several threads at
// once.
#pragma once
#include "analysis/objects/inside_of.h"
#include "analysis/owners/holding.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

class FoldedTree {
public:
  // Names all types at once, so that reasons for missing names are known before the output begins.
  FoldedTree(Holding &holding, bool is_raw);

  struct Node {
    std::vector<TreePlace> places;
    Retained retained;
    std::string name;
    bool is_group = false;        // `places` are the children, not the node itself
    std::optional<TypeId> type{}; // absent: an owner
    u64 behind = 0;               // further objects of its type, in chains that begin at the places
  };

  // Returns the owners, and objects shared by several of them as "(shared)", in any order. Unreachable objects are left
  // out.
  std::vector<Node> top() const;
  // Returns the children by type, in any order, and sets node.behind. The node's own size is its retained size less
  // that of its children.
  std::vector<Node> children(Node &node) const;
  // Largest first.
  static void sort(std::vector<Node> &nodes);

private:
  std::optional<TypeId> type_at(TreePlace at) const;

  Holding &holding_;
  const DominatorTree &tree_;
  const bool is_raw_;
  const Watch watch_;
  const Insides insides_;
};

} // namespace dnheap
