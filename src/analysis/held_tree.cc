#include "analysis/held_tree.h"

#include "analysis/holding.h"
#include "analysis/inside_of.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/references.h"

#include <algorithm>
#include <map>
#include <memory>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

class HeldTree {
public:
  HeldTree(Snapshot &snapshot, const Question &question)
      : holding_(snapshot, question), tree_(holding_.tree()), is_raw_(question.raw),
        depth_(std::min(question.depth.value_or(4), most_tree_levels)), watch_(snapshot.watch()),
        insides_(snapshot.runtime(), snapshot.references().types()) { // names all: why there is none is known in time
    descend(top());
  }

  bool next(report::Row &row) {
    while (!levels_.empty() && levels_.back().shown == levels_.back().nodes.size())
      levels_.pop_back();
    if (levels_.empty())
      return false;
    watch_.check();
    const u64 depth = levels_.size() - 1;
    Node node = std::move(levels_.back().nodes[levels_.back().shown++]);
    std::vector<Node> below = children(node);
    fill(row, node, depth);
    if (depth + 1 < depth_)
      descend(std::move(below));
    return true;
  }

private:
  struct Node {
    std::vector<TreePlace> places;
    Retained retained;
    std::string name;
    bool is_group = false;        // the places are what stands below it, not it
    std::optional<TypeId> type{}; // absent: an owner
    u64 behind = 0;               // more of its type, one behind the other
  };
  struct Level {
    std::vector<Node> nodes;
    u64 shown = 0;
  };

  // Those that are worth a row, largest first.
  void descend(std::vector<Node> nodes) {
    constexpr u64 least_share = 200; // a node with less than 1/200 of the heap is not shown
    const u64 least = std::max<u64>(holding_.all().bytes / least_share, 1);
    std::erase_if(nodes, [&](const Node &node) { return node.retained.bytes < least; });
    std::sort(nodes.begin(), nodes.end(), [](const Node &a, const Node &b) {
      return a.retained.bytes != b.retained.bytes ? a.retained.bytes > b.retained.bytes : a.name < b.name;
    });
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

  // Beyond what can be told by eye the level is a number, so that lines do not grow with it.
  static std::string indentation(u64 depth) {
    constexpr u64 most = 40;
    return std::string(2 * std::min(depth, most), ' ') + (depth > most ? "[" + std::to_string(depth) + "] " : "");
  }

  std::vector<Node> top() const {
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

  std::optional<TypeId> type_at(TreePlace at) const {
    const std::optional<ObjectId> object = tree_.object(at);
    return object ? std::optional(holding_.type(*object)) : std::nullopt;
  }

  // By type. Notes in the node what stands behind it.
  std::vector<Node> children(Node &node) {
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
      // Each place is looked at once: those that are folded are looked below, not shown.
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

  Holding holding_;
  const DominatorTree &tree_;
  const bool is_raw_;
  const u64 depth_;
  const Watch watch_;
  const Insides insides_;
  std::vector<Level> levels_; // from the top to the row that comes next
};

} // namespace

report::Table held_tree_table(Snapshot &snapshot, const Question &question) {
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
  table.notes = {"each line would be freed if the line above it, one step to the left, let go of it; less than 0.5% is "
                 "not shown; --depth goes deeper"};
  if (!question.raw)
    table.notes.push_back("what collections are made of is told with them, a chain of one type is one line, and of "
                          "several objects the address is that of the largest: dnheap show tells more of it; --raw "
                          "shows each step");
  return table;
}

} // namespace dnheap
