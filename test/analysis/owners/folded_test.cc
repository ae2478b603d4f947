// What collections are made of is folded into them: in the dominator tree, in paths, among suspects; against the tree
// of which the heap was made.
#include "algorithms/dominator_tree.h"
#include "analysis/suspects/suspects.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "objects/object_graph.h"
#include "objects/references.h"
#include "objects/roots.h"
#include "support/heap_builder.h"
#include "support/opened.h"
#include "support/rows.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap::test {
namespace {

constexpr u64 node_count = 500;

// static Shop.Program.s_all → SortedSet → a tree of nodes, most of it to the right → an order in each.
class Tree {
public:
  explicit Tree(const HeapShape &shape) : heap(shape), p(static_cast<u32>(heap.p)) {
    const Address order = made("Shop", "Order", {}), set = made("System.Collections.Generic", "SortedSet", {"root"}),
                  node = made("System.Collections.Generic", "SortedSet+Node", {"Left", "Right", "Item"});
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    const Address statics = old.object(heap.object_array_type, 1), root = old.object(set);
    const Address program = heap.type("Shop.Program", 1);
    heap.fields(program, {{name("s_all"), ElementType::Class, 0, true}});
    heap.statics(program, statics + 2 * p);
    old.store(statics + 2 * p, root, p);
    heap.gc.handles = {{.type = HandleType::strong, .object = statics}};
    std::mt19937 random(7);
    std::vector<Address> left(node_count), right(node_count);
    for (u64 i = 0; i < node_count; ++i) {
      nodes.push_back(old.object(node));
      orders.push_back(old.object(order));
      old.store(nodes[i] + 3 * p, orders[i], p);
      if (i == 0) {
        old.store(root + p, nodes[0], p);
        continue;
      }
      for (u64 at = 0;;) {
        const bool is_left = random() % 10 < 3;
        Address &child = (is_left ? left : right)[at];
        if (!child) {
          child = nodes[i];
          old.store(nodes[at] + (is_left ? 1 : 2) * p, child, p);
          break;
        }
        at = static_cast<u64>(std::find(nodes.begin(), nodes.end(), child) - nodes.begin());
      }
    }
  }

  HeapBuilder heap;
  u32 p;
  std::vector<Address> nodes, orders;

private:
  using Series = std::vector<std::pair<u64, u64>>;

  u32 name(const char *text) { return heap.app().metadata.field(text, field_signature(element(ElementType::Object))); }
  Address made(const char *space, const char *type, std::vector<const char *> fields) {
    const u32 count = static_cast<u32>(fields.size());
    const Address out = heap.method_table({.base_size = (3 + count) * p,
                                           .rid = heap.app().metadata.type(space, type),
                                           .series = Series(count ? 1 : 0, {p, count * p})});
    std::vector<FieldShape> shapes;
    for (u32 i = 0; i < count; ++i)
      shapes.push_back({name(fields[i]), ElementType::Class, i * p});
    heap.fields(out, shapes);
    return out;
  }
};

std::string text_of(Tree &tree, const char *verb, Question question = {}) {
  report::Answer answer = answer_of(tree.heap, verb, question);
  std::string out;
  report::Sink sink(out);
  report::write_text(answer, {}, sink);
  return out;
}

TEST(Folded, NodesInTheDominatorTree) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Tree tree(shape);
    Question question;
    question.tree = true;
    report::Answer answer = answer_of(tree.heap, "retained", question);
    std::vector<TextRow> rows = text_rows_of(answer, "tree");
    ASSERT_GE(rows.size(), 3u); // an array of statics may be in front
    std::vector<TextRow> last(rows.end() - 2, rows.end());
    EXPECT_EQ(last[0]["name"], "System.Collections.Generic.SortedSet");
    EXPECT_EQ(last[0]["objects"], std::to_string(1 + 2 * node_count));
    EXPECT_EQ(last[1]["name"], "Shop.Order");
    EXPECT_EQ(last[1]["nodes"], std::to_string(node_count));
    EXPECT_EQ(last[1]["objects"], std::to_string(node_count));
    EXPECT_EQ(last[1]["address"], hex(tree.orders.front()));
    question.raw = true;
    const u64 place = rows.size() - 1;
    answer = answer_of(tree.heap, "retained", question);
    rows = text_rows_of(answer, "tree");
    ASSERT_GT(rows.size(), place);
    EXPECT_NE(rows[place]["name"].find("+Node"), std::string::npos);
    EXPECT_EQ(rows[place]["address"], hex(tree.nodes.front()));
  }
}

TEST(Folded, ATreeIsOneSuspect) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Tree tree(shape);
    Snapshot snapshot(tree.heap.target(), {});
    const Suspects found = find_suspects(snapshot, {}, 0.05);
    ASSERT_FALSE(found.list.empty());
    EXPECT_EQ(found.list[0].element, "Shop.Order");
    EXPECT_EQ(found.list[0].elements, node_count);
    EXPECT_EQ(found.list[0].objects, 2 * node_count);
    EXPECT_EQ(found.list[0].retained, node_count * (6 + 3) * tree.p);
  }
}

// Which way leads through the tree is no way of its own.
TEST(Folded, PathsThroughATree) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Tree tree(shape);
    Question question;
    question.subject = "Shop.Order";
    report::Answer answer = answer_of(tree.heap, "path", question);
    std::vector<TextRow> rows = text_rows_of(answer, "paths");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["instances"], std::to_string(node_count));
    EXPECT_NE(rows[0]["path"].find(".root.(node)×0.."), std::string::npos) << rows[0]["path"];
    const std::string signature = rows[0]["signature"];
    question.subject = hex(tree.orders.back());
    answer = answer_of(tree.heap, "path", question);
    rows = text_rows_of(answer, "paths");
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows[0]["signature"], signature);
    const std::string folded = text_of(tree, "path", question);
    EXPECT_EQ(folded.find("+Node"), std::string::npos) << folded;
    EXPECT_NE(folded.find("  .root….Item "), std::string::npos) << folded;
    question.raw = true;
    EXPECT_NE(text_of(tree, "path", question).find("+Node"), std::string::npos);
  }
}

// The tree by its definition: what is inside, or of the same type as what it hangs from, is part of that.
class Twin {
public:
  explicit Twin(Snapshot &snapshot) : snapshot_(snapshot), tree_(snapshot.dominators()) {}

  std::vector<std::string> rows() {
    std::vector<Node> top;
    Node shared{{}, tree_.shared(), "(shared)"};
    tree_.for_each_child(TreePlace{0}, [&](TreePlace at) {
      if (const std::optional<OwnerId> owner = tree_.owner(at))
        top.push_back({{at}, tree_.retained(at), snapshot_.owners().owners[static_cast<u32>(*owner)].name});
      else
        shared.places.push_back(at);
    });
    std::map<std::string, Node> below;
    for (TreePlace at : shared.places)
      add(below, at);
    all_ = tree_.reached().bytes + tree_.unreachable().bytes;
    emit(top, 0);
    emit({shared}, 0, &below);
    return rows_;
  }

private:
  struct Node {
    std::vector<TreePlace> places;
    Retained retained;
    std::string name;
  };

  std::string name_of(TreePlace at) const {
    const std::optional<ObjectId> object = tree_.object(at);
    const HeapTypes &types = snapshot_.references().types();
    return object ? snapshot_.runtime().types().name(types[snapshot_.graph().type(*object)].method_table) : "";
  }
  void add(std::map<std::string, Node> &to, TreePlace at) const {
    Node &node = to[name_of(at)];
    node.name = name_of(at);
    node.places.push_back(at);
    node.retained.objects += tree_.retained(at).objects;
    node.retained.bytes += tree_.retained(at).bytes;
  }
  bool is_part(TreePlace child, const std::string &of) const {
    const std::string parent = name_of(tree_.parent(child)), name = name_of(child);
    if (parent.empty())
      return false;
    return name == of || name.find("+Node") != name.npos ||
           (name.ends_with("[]") && parent.starts_with("System.Collections.") && !parent.ends_with("[]") &&
            parent.find("+Node") == parent.npos);
  }
  void look_below(TreePlace at, const std::string &of, u64 &count, std::map<std::string, Node> &below) const {
    tree_.for_each_child(at, [&](TreePlace child) {
      if (!is_part(child, of))
        return add(below, child);
      count += name_of(child) == of;
      look_below(child, of, count, below);
    });
  }
  void emit(std::vector<Node> nodes, u64 depth, std::map<std::string, Node> *given = nullptr) {
    std::erase_if(nodes, [&](const Node &node) { return node.retained.bytes < std::max<u64>(all_ / 200, 1); });
    for (const Node &node : nodes) {
      std::map<std::string, Node> below;
      u64 count = given ? 0 : node.places.size();
      for (TreePlace at : node.places)
        if (!given)
          look_below(at, depth ? node.name : "(an owner)", count, below);
      rows_.push_back(std::to_string(depth) + " " + node.name + " ×" + (given ? "" : std::to_string(count)) + " " +
                      std::to_string(node.retained.objects) + " " + std::to_string(node.retained.bytes));
      std::vector<Node> next;
      for (const auto &[name, one] : given ? *given : below)
        next.push_back(one);
      emit(next, depth + 1);
    }
  }

  Snapshot &snapshot_;
  const DominatorTree &tree_;
  u64 all_ = 0;
  std::vector<std::string> rows_;
};

TEST(Folded, AgainstATwinThatFollowsTheDefinition) {
  u64 folded = 0;
  for (u64 round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    std::mt19937 random(static_cast<u32>(round));
    HeapBuilder heap({.format = all_formats[round % 4]});
    const u32 p = static_cast<u32>(heap.p);
    std::vector<Address> types;
    for (const auto &[space, name] : {std::pair{"System.Collections.Generic", "SortedSet"},
                                      {"System.Collections.Generic", "SortedSet+Node"},
                                      {"Shop", "Order"},
                                      {"Shop", "Line"}})
      types.push_back(heap.method_table(
          {.base_size = 5 * p, .rid = heap.app().metadata.type(space, name), .series = {{p, 3 * p}}}));
    types.push_back(heap.array(types[2], p));
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    std::vector<std::pair<Address, bool>> objects; // and whether it is an array
    const u64 count = 20 + random() % 120;
    auto refer = [&](u64 from, u64 to) {
      const auto [object, is_array] = objects[from];
      old.store(object + (is_array ? 2 + random() % 3 : 1 + random() % 3) * p, objects[to].first, p);
    };
    for (u64 i = 0; i < count; ++i) {
      const u64 type = random() % types.size();
      objects.emplace_back(type == 4 ? old.object(types[4], 3) : old.object(types[type]), type == 4);
      if (i)
        refer(random() % i, i);
      if (i && random() % 10 == 0) // else it is a tree
        refer(random() % i, random() % i);
    }
    heap.gc.handles = {{.type = HandleType::strong, .object = objects[0].first},
                       {.type = HandleType::pinned, .object = objects[random() % count].first}};
    Snapshot snapshot(heap.target(), {});
    Question question;
    question.tree = question.plain = true;
    question.depth = 1000;
    report::Answer answer = answer_retained(snapshot, question);
    std::vector<std::string> found, wanted = Twin(snapshot).rows();
    for (TextRow &row : text_rows_of(answer, "tree")) {
      const bool is_group = row["name"] == "(shared)";
      found.push_back(row["depth"] + " " + row["name"] + " ×" + (is_group ? "" : row["nodes"]) + " " + row["objects"] +
                      " " + row["retained"]);
    }
    std::sort(found.begin(), found.end());
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(found, wanted);
    folded += found.size();
  }
  EXPECT_GT(folded, 300u);
}

} // namespace
} // namespace dnheap::test
