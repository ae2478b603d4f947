// FoldedTree: the dominator tree as people read it: an owner first, below it the objects of one type below one node as
// one node. What collections are made of is folded into them, and a chain of one type is one node, unless `is_raw`. A
// list is as deep as it is long: what stands below a node is looked at when it is asked for, each place once, and no
// function calls itself. Nodes keep 4 bytes per object of theirs. One thread.
#pragma once
#include "analysis/objects/inside_of.h"
#include "analysis/owners/holding.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

class FoldedTree {
public:
  // Names all types: why there is no name is known in time.
  FoldedTree(Holding &holding, bool is_raw);

  struct Node {
    std::vector<TreePlace> places;
    Retained retained;
    std::string name;
    bool is_group = false;        // the places are what stands below it, not it
    std::optional<TypeId> type{}; // absent: an owner
    u64 behind = 0;               // more of its type, one behind the other
  };

  // The owners, and what several of them hold as "(shared)"; in any order. Without what nothing holds.
  std::vector<Node> top() const;
  // By type, in any order. Notes in the node what stands behind it. What the node retains beyond what they retain is
  // its own.
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
