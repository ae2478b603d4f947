// What collections are made of is folded into them: in the dominator tree, in paths, among suspects; against the tree
// of which the heap was made.
#include "analysis/path_steps.h"
#include "analysis/suspects.h"
#include "analysis/verbs.h"
#include "base/text.h"
#include "support/heap_builder.h"
#include "support/rows.h"

#include <gtest/gtest.h>
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

} // namespace
} // namespace dnheap::test
