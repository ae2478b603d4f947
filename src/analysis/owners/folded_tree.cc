#include "analysis/owners/folded_tree.h"

#include "objects/references.h"

#include <algorithm>
#include <map>

namespace dnheap {

FoldedTree::FoldedTree(Holding &holding, bool is_raw)
    : holding_(holding), tree_(holding.tree()), is_raw_(is_raw), watch_(holding.snapshot().watch()),
      insides_(holding.snapshot().runtime(), holding.snapshot().references().types()) {}

std::vector<FoldedTree::Node> FoldedTree::top() const {
  std::vector<Node> out;
  Node shared{{}, tree_.shared(), "(shared)", true};
  tree_.for_each_child(TreePlace{0}, [&](TreePlace at) {
    if (std::optional<OwnerId> owner = tree_.owner(at))
      out.push_back({{at}, tree_.retained(at), holding_.owner(*owner).name, false});
    else
      shared.places.push_back(at);
  });
  out.push_back(std::move(shared));
  return out;
}

std::optional<TypeId> FoldedTree::type_at(TreePlace at) const {
  const std::optional<ObjectId> object = tree_.object(at);
  return object ? std::optional(holding_.type(*object)) : std::nullopt;
}

std::vector<FoldedTree::Node> FoldedTree::children(Node &node) const {
  std::map<TypeId, Node> by_type;
  auto add_place = [&](TreePlace at, TypeId type) {
    Node &to = by_type[type];
    const Retained more = tree_.retained(at);
    to.type = type;
    to.places.push_back(at);
    to.retained.objects += more.objects;
    to.retained.bytes += more.bytes;
  };
  if (node.is_group) {
    for (TreePlace at : node.places)
      if (const std::optional<TypeId> type = type_at(at))
        add_place(at, *type);
  } else {
    // Folded places do not become nodes: their children are listed instead. Each place is looked at once.
    std::vector<TreePlace> folded;
    auto look_below = [&](TreePlace parent) {
      const std::optional<TypeId> of_parent = type_at(parent);
      tree_.for_each_child(parent, [&](TreePlace at) {
        const std::optional<TypeId> type = type_at(at);
        if (!type)
          return;
        const bool is_behind = node.type == type;
        if (is_raw_ || !of_parent || !(is_behind || insides_.is_inside(*of_parent, *type)))
          return add_place(at, *type);
        node.behind += is_behind;
        folded.push_back(at);
      });
    };
    for (TreePlace at : node.places)
      look_below(at);
    for (u64 looked = 0; !folded.empty(); ++looked) {
      if (looked % 0x10000 == 0)
        watch_.check();
      const TreePlace at = folded.back();
      folded.pop_back();
      look_below(at);
    }
  }
  std::vector<Node> out;
  for (auto &[type, child] : by_type) {
    child.name = holding_.name(type);
    out.push_back(std::move(child));
  }
  return out;
}

void FoldedTree::sort(std::vector<Node> &nodes) {
  std::sort(nodes.begin(), nodes.end(), [](const Node &a, const Node &b) {
    return a.retained.bytes != b.retained.bytes ? a.retained.bytes > b.retained.bytes : a.name < b.name;
  });
}

} // namespace dnheap
