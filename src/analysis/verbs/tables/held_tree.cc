#include "analysis/verbs/tables/held_tree.h"

#include "analysis/owners/folded_tree.h"
#include "base/share.h"
#include "base/text.h"

#include <algorithm>
#include <memory>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

class HeldTree {
public:
  HeldTree(const Snapshot &snapshot, const Question &question)
      : holding_(snapshot, question), tree_(holding_.tree()), folded_(holding_, question.raw),
        depth_(std::min(question.depth.value_or(4), most_tree_levels)),
        top_(question.top_is_asked && question.top ? question.top : ~u64{0}), watch_(snapshot.watch()) {
    descend(folded_.top());
  }

  bool next(report::Row &row) {
    while (!levels_.empty() && levels_.back().shown == levels_.back().nodes.size())
      levels_.pop_back();
    if (levels_.empty())
      return false;
    watch_.check();
    const u64 depth = levels_.size() - 1;
    Node node = std::move(levels_.back().nodes[levels_.back().shown++]);
    std::vector<Node> below = folded_.children(node);
    fill(row, node, depth);
    if (depth + 1 < depth_)
      descend(std::move(below));
    return true;
  }

private:
  using Node = FoldedTree::Node;
  struct Level {
    std::vector<Node> nodes;
    u64 shown = 0;
  };

  // Keeps the nodes that are large enough for a row, largest first.
  void descend(std::vector<Node> nodes) {
    constexpr u64 least_share = 200; // a node with less than 1/200 of the heap is not shown
    const u64 least = std::max<u64>(holding_.all().bytes / least_share, 1);
    std::erase_if(nodes, [&](const Node &node) { return node.retained.bytes < least; });
    FoldedTree::sort(nodes);
    nodes.resize(std::min<u64>(nodes.size(), top_));
    levels_.push_back({std::move(nodes)});
  }

  void fill(report::Row &row, const Node &node, u64 depth) {
    Cell address;
    if (node.type)
      address = holding_.address(
          *tree_.object(*std::max_element(node.places.begin(), node.places.end(), [&](TreePlace a, TreePlace b) {
            return tree_.retained(a).bytes < tree_.retained(b).bytes;
          })));
    const u64 count = node.places.size() + node.behind;
    std::string text = indentation(depth) + node.name;
    if (depth && count > 1)
      text += " ×" + count_text(count);
    row = {depth,
           node.retained.bytes,
           share_of(node.retained.bytes, holding_.all().bytes),
           node.retained.objects,
           count,
           address,
           node.name,
           std::move(text)};
  }

  // Deep levels are shown as a number, so that lines do not grow with the depth.
  static std::string indentation(u64 depth) {
    constexpr u64 most = 40;
    return std::string(2 * std::min(depth, most), ' ') + (depth > most ? "[" + std::to_string(depth) + "] " : "");
  }

  Holding holding_;
  const DominatorTree &tree_;
  const FoldedTree folded_;
  const u64 depth_, top_; // levels; nodes below one
  const Watch watch_;
  std::vector<Level> levels_; // from the top down to the next row
};

} // namespace

report::Table held_tree_table(const Snapshot &snapshot, const Question &question) {
  report::Table table;
  table.name = "tree";
  table.columns = {{"depth", "Depth", Kind::number, Shown::in_data},
                   {"retained", "Retained", Kind::bytes},
                   {"share", "Share", Kind::percent},
                   {"objects", "Objects", Kind::count},
                   {"nodes", "Nodes", Kind::count, Shown::in_data},
                   {"address", "Address", Kind::address},
                   {"name", "Name", Kind::text, Shown::in_data},
                   {"what", "Held by", Kind::text, Shown::in_text}};
  table.rows = [tree = std::make_shared<HeldTree>(snapshot, question)](report::Row &row) { return tree->next(row); };
  table.whole = true;
  table.notes = {
      "each line would be freed if its parent (the nearest line above that is one step to the left) let go of it; "
      "lines of less than 0.5% are not shown; --depth goes deeper"};
  if (question.top_is_asked && question.top)
    table.notes.push_back("below each line there are the " + count_text(question.top) + " largest at most (--top)");
  if (!question.raw)
    table.notes.push_back(
        "the inner objects of a collection count with it, and a chain of one type is one line; the address is that of "
        "the line's largest object, which dnheap show describes; --raw shows each step");
  return table;
}

} // namespace dnheap
