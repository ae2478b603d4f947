#include "analysis/suspects/places_in_tree.h"

namespace dnheap {

u32 PlacesInTree::type_at(TreePlace at) const {
  const std::optional<ObjectId> object = tree_.object(at);
  return object ? static_cast<u32>(graph_.type(*object)) : no_type;
}

Fan PlacesInTree::fan_of(TreePlace at) const {
  Fan out;
  tree_.for_each_child(at, [&](TreePlace child) {
    ++out.count;
    if (const u64 b = bytes(child); b > out.largest_bytes)
      out.largest = child, out.largest_bytes = b;
  });
  return out;
}

HeldGroup PlacesInTree::group_of(std::span<const TreePlace> places) const {
  HeldGroup out;
  for (TreePlace place : places)
    out.add(place, tree_.retained(place));
  return out;
}

bool PlacesInTree::is_node(TreePlace at) const {
  const std::optional<ObjectId> object = tree_.object(at);
  return object && insides_.is_node(graph_.type(*object));
}

bool PlacesInTree::is_part(TreePlace parent, TreePlace child) const {
  const std::optional<ObjectId> one = tree_.object(parent), other = tree_.object(child);
  return one && other && insides_.is_inside(graph_.type(*one), graph_.type(*other));
}

bool PlacesInTree::has_several_nodes(TreePlace at, TreePlace node) const {
  u64 alike = 0;
  if (is_node(node) && !is_node(at))
    tree_.for_each_child(at, [&](TreePlace child) { alike += type_at(child) == type_at(node); });
  return alike > 1;
}

} // namespace dnheap
