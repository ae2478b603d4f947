// The graph's own invariants hold of random heaps, and each is told when it does not: of a graph whose edges, tree or
// marking belong to another one.
#include "objects/graph_check.h"
#include "objects/live.h"
#include "support/random_graph.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Solved {
  explicit Solved(RandomGraph &made, std::mt19937_64 &random)
      : in(made.heap), sizes(in.index->count()), graph(*in.index, *in.references, in.opened.heap, 2, {}, {}, &sizes) {
    std::vector<RootStage> stages(1);
    for (u32 i = 0; i < 40; ++i) {
      Address object = made.random_object();
      stages[0].objects.push_back(object);
      roots.push_back({in.index->find(object), OwnerId(static_cast<u32>(random() % 6))});
    }
    mark(stages);
    tree = std::make_unique<DominatorTree>(graph.edges(), sizes.sizes(), owners(), 2, Watch());
    for (u64 i = 0; i <= graph.objects(); ++i)
      first.push_back(graph.edges().begin(i));
    targets.assign(graph.edges().targets.begin(), graph.edges().targets.end());
  }
  void mark(const std::vector<RootStage> &stages) {
    live = std::make_unique<LiveObjects>(mark_live(*in.index, *in.references, stages, 2, {}));
  }
  Owners owners() const { return {6, 4, roots}; }
  // Names of those that do not hold.
  std::vector<std::string> check(unsigned threads = 2) {
    std::vector<std::string> out;
    checked = 0;
    Edges edges{first, targets};
    for (const Invariant &of : check_graph(
             {*in.index, edges, sizes.sizes(), owners(), *tree, live->objects, expected.value_or(targets.size())},
             threads, {})) {
      checked += of.checked > 0;
      if (of.violations)
        out.push_back(of.name);
    }
    return out;
  }

  Indexed in;
  ObjectSizeColumn sizes;
  ObjectGraph graph;
  std::vector<OwnedRoot> roots;
  std::unique_ptr<LiveObjects> live;
  std::unique_ptr<DominatorTree> tree;
  std::vector<u64> first;
  std::vector<ObjectId> targets;
  std::optional<u64> expected;
  u64 checked = 0;
};

using Names = std::vector<std::string>;

TEST(GraphCheck, AllHoldOfRandomHeaps) {
  std::mt19937_64 random(41);
  for (Format format : all_formats)
    for (unsigned threads : {1u, 3u}) {
      RandomGraph made({.format = format}, random, 4, 200, 80);
      Solved solved(made, random);
      EXPECT_EQ(solved.check(threads), Names());
      EXPECT_EQ(solved.checked, 12u);
      EXPECT_GT(solved.tree->shared().objects, 0u);
      EXPECT_GT(solved.tree->unreachable().objects, 0u);
    }
}

TEST(GraphCheck, TellsWhichDoesNotHold) {
  std::mt19937_64 random(42);
  RandomGraph made({}, random, 4, 200, 80);
  {
    Solved solved(made, random);
    solved.expected = solved.targets.size() + 1;
    EXPECT_EQ(solved.check(), Names{"there are as many edges as references that lead to objects"});
  }
  {
    Solved solved(made, random);
    std::swap(solved.first[50], solved.first[60]);
    EXPECT_EQ(solved.check(), Names{"edges of objects follow one another and lead to objects"});
  }
  {
    Solved solved(made, random);
    solved.targets[3] = ObjectId(static_cast<u32>(solved.first.size()));
    EXPECT_EQ(solved.check(), Names{"edges of objects follow one another and lead to objects"});
  }
  {
    Solved solved(made, random);
    solved.first.pop_back();
    EXPECT_EQ(solved.check(), Names{"there are as many objects as numbers"});
  }
  {
    Solved solved(made, random);
    solved.mark({{"none", {}}});
    EXPECT_EQ(solved.check(), Names{"the dominator tree holds exactly the objects that marking finds alive"});
  }
}

// A tree of fewer edges, or of fewer roots: what it has for a dominator is none.
TEST(GraphCheck, TellsDominatorsThatAreNone) {
  std::mt19937_64 random(43);
  RandomGraph made({}, random, 4, 200, 70);
  Solved solved(made, random);
  u32 told = 0, tried = 0;
  for (u64 i = 0; i < solved.targets.size() && tried < 200; ++i) {
    ObjectId was = solved.targets[i];
    ObjectId other{static_cast<u32>(random() % solved.graph.objects())};
    if (!solved.tree->place(other))
      continue;
    ++tried;
    solved.targets[i] = other;
    // A tree of this graph has other dominators, or the same.
    Names found = solved.check();
    for (const std::string &name : found)
      EXPECT_EQ(name, "no edge leads past its target's dominator");
    told += !found.empty();
    solved.targets[i] = was;
  }
  EXPECT_GT(told, 20u);
  EXPECT_LT(told, tried);
  EXPECT_EQ(solved.check(), Names());
  // A root more, of an object that another object dominates.
  for (u32 i = 0; i < solved.graph.objects(); ++i)
    if (std::optional<TreePlace> at = solved.tree->place(ObjectId(i));
        at && solved.tree->object(solved.tree->parent(*at))) {
      solved.roots.push_back({ObjectId(i), OwnerId(0)});
      break;
    }
  EXPECT_EQ(solved.check(), Names{"no root leads past its object's dominator"});
}

} // namespace
} // namespace dnheap::test
