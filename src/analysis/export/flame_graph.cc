#include "analysis/export/flame_graph.h"

#include "analysis/owners/folded_tree.h"
#include "base/text.h"
#include "objects/roots.h"
#include "report/encoding.h"

#include <algorithm>

namespace dnheap {

namespace {

using Nodes = std::vector<FoldedTree::Node>;

Retained sum_of(const Nodes &nodes) {
  Retained out;
  for (const FoldedTree::Node &node : nodes)
    out.objects += node.retained.objects, out.bytes += node.retained.bytes;
  return out;
}

Retained without(Retained all, Retained some) { return {all.objects - some.objects, all.bytes - some.bytes}; }

} // namespace

FlameGraph::FlameGraph(const Snapshot &snapshot, const Question &question) {
  if (snapshot.roots().roots.empty())
    throw Error("live objects are unknown without roots: a flame graph would be empty");
  Holding holding(snapshot, question);
  const FoldedTree tree(holding, question.raw);
  const Timer timer(snapshot.watch(), "frames");
  const Retained frozen = holding.frozen();
  unreachable_ = without(holding.tree().unreachable(), frozen);
  const u64 least = std::max<u64>((holding.tree().reached().bytes + frozen.bytes) / least_share, 1);

  std::vector<Nodes> levels; // nodes still to be visited, by depth; the next one is last
  u64 room = most_frames;
  auto descend = [&](Nodes nodes) {
    const u64 depth = levels.size();
    const Retained all = sum_of(nodes);
    std::erase_if(nodes, [&](const FoldedTree::Node &node) { return node.retained.bytes < least; });
    if (depth == most_depth || nodes.size() > room) {
      ++cut_;
      return add(deeper, depth, all);
    }
    const Retained rest = without(all, sum_of(nodes));
    FoldedTree::sort(nodes);
    if (rest.objects)
      nodes.push_back({{}, rest, small});
    room -= std::min(room, nodes.size());
    std::reverse(nodes.begin(), nodes.end());
    levels.push_back(std::move(nodes));
  };

  descend(tree.top());
  while (!levels.empty()) {
    snapshot.watch().check();
    if (levels.back().empty()) {
      levels.pop_back();
      continue;
    }
    FoldedTree::Node node = std::move(levels.back().back());
    levels.back().pop_back();
    Nodes above = tree.children(node);
    add(node.name, levels.size() - 1, without(node.retained, sum_of(above)));
    if (!above.empty())
      descend(std::move(above));
  }
  if (frozen.objects)
    add("(frozen)", 0, frozen);
}

u32 FlameGraph::number_of(const std::string &name) {
  const auto [at, is_new] = numbers_.try_emplace(name, static_cast<u32>(names_.size()));
  if (is_new)
    report::append_utf8(names_.emplace_back(), name);
  return at->second;
}

Exported FlameGraph::exported() const {
  Exported out;
  out.objects = all_.objects;
  out.bytes = all_.bytes;
  out.frames = frames_.size();
  if (unreachable_.objects)
    out.notes.add(count_text(unreachable_.objects) + (unreachable_.objects == 1 ? " object with " : " objects with ") +
                  bytes_text(unreachable_.bytes) + ", which nothing holds, " +
                  (unreachable_.objects == 1 ? "is" : "are") + " not in the file");
  if (cut_)
    out.notes.add("above " + count_text(cut_) + (cut_ == 1 ? " frame" : " frames") + ", everything is one frame, " +
                  deeper + ": a file has at most " + count_text(most_depth) + " frames above one another, and " +
                  count_text(most_frames) + " frames in all");
  return out;
}

} // namespace dnheap
