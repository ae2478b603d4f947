// Folding against a plain twin that has the whole sequence of each path before it, by hand, and by several threads.
#include "algorithms/paths/path_folding.h"
#include "support/property.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace dnheap::test {
namespace {

// Objects in a tree: each one's parent has a lesser number; roots have none.
struct Tree {
  Graph graph;
  std::vector<u32> labels; // of the step that leads to the object; of roots: of the owner

  Tree(const std::vector<i64> &parents, std::vector<u32> names) : labels(std::move(names)) {
    std::vector<std::vector<u32>> children(parents.size());
    for (u32 i = 0; i < parents.size(); ++i) {
      if (parents[i] >= 0)
        children[static_cast<u64>(parents[i])].push_back(i);
      else
        graph.root(graph.owner_count++, i);
    }
    graph.precise_owners = graph.owner_count;
    for (const auto &references : children)
      graph.add(8, references);
  }
  FoldedPaths fold(const std::vector<ObjectId> &instances, unsigned threads = 1,
                   u32 most_states = most_folded_states) const {
    ShortestPaths found(graph.edges(), 1, {});
    found.grow(graph.owners());
    PathLabels names{.owner = [&](OwnerId owner) { return labels[root_of(owner)]; }, .steps = labels};
    return fold_paths(found, graph.sizes(), instances, names, threads, {}, most_states);
  }
  u32 root_of(OwnerId owner) const { // owners are numbered as their roots come
    return static_cast<u32>(graph.roots[static_cast<u32>(owner)].object);
  }
  std::vector<u32> sequence(ObjectId object) const {
    ShortestPaths found(graph.edges(), 1, {});
    found.grow(graph.owners());
    std::vector<u32> out;
    for (ObjectId step : found.path(object))
      out.push_back(labels[static_cast<u32>(step)]);
    return out;
  }
};

// `owner.a(b)2-7.c`: the example of how a path is written here; labels are letters.
std::string text(const FoldedPath &path) {
  auto letters = [](const std::vector<u32> &labels) {
    std::string out;
    for (u32 label : labels)
      out += static_cast<char>('a' + label);
    return out;
  };
  std::string out = letters({path.owner}) + ".";
  for (const FoldedStep &step : path.steps)
    out += step.repeats
               ? "(" + letters(step.labels) + ")" + std::to_string(step.least) + "-" + std::to_string(step.most)
               : letters(step.labels);
  return out;
}

std::vector<std::string> texts(const FoldedPaths &folded) {
  std::vector<std::string> out;
  for (const FoldedPath &path : folded.paths)
    out.push_back(std::to_string(path.instances) + " " + text(path));
  return out;
}

std::vector<u32> paths_of(const FoldedPaths &folded) { return {folded.path_of.begin(), folded.path_of.end()}; }

// All that is known of the folded paths.
std::vector<std::string> facts(const FoldedPaths &folded) {
  std::vector<std::string> out = texts(folded);
  for (u64 i = 0; i < out.size(); ++i)
    out[i] += " " + std::to_string(folded.paths[i].bytes) + " bytes, first " +
              std::to_string(static_cast<u32>(folded.paths[i].example));
  out.push_back(std::to_string(folded.not_folded) + " not folded");
  return out;
}

// One root per text; the instances are the ends.
FoldedPaths fold(const std::vector<std::string> &paths) {
  std::vector<i64> parents;
  std::vector<u32> labels;
  std::vector<ObjectId> ends;
  for (const std::string &path : paths) {
    for (u64 i = 0; i < path.size(); ++i) {
      parents.push_back(i == 0 ? -1 : static_cast<i64>(parents.size()) - 1);
      labels.push_back(static_cast<u32>(path[i] - 'a'));
    }
    ends.push_back(ObjectId(static_cast<u32>(parents.size() - 1)));
  }
  return Tree(parents, labels).fold(ends);
}

using Texts = std::vector<std::string>;

TEST(PathFolding, Lists) {
  EXPECT_EQ(texts(fold({"ohi", "ohni", "ohnni", "ohnnni"})), Texts{"4 o.h(n)0-3i"});
  EXPECT_EQ(texts(fold({"ohnni", "ohnnnnni"})), Texts{"2 o.h(n)2-5i"});
  EXPECT_EQ(texts(fold({"ohni", "ohni"})), Texts{"2 o.hni"});
  EXPECT_EQ(texts(fold({"o"})), Texts{"1 o."});
}

TEST(PathFolding, PeriodsOfUpToFour) {
  EXPECT_EQ(texts(fold({"oxababy"})), Texts{"1 o.x(ab)2-2y"});
  EXPECT_EQ(texts(fold({"oabcabcabc"})), Texts{"1 o.(abc)3-3"});
  EXPECT_EQ(texts(fold({"oabcdabcdx"})), Texts{"1 o.(abcd)2-2x"});
  EXPECT_EQ(texts(fold({"oabcdeabcde"})), Texts{"1 o.abcdeabcde"});
  EXPECT_EQ(texts(fold({"oababax"})), Texts{"1 o.(ab)2-2ax"}); // a turn that is not finished
  EXPECT_EQ(texts(fold({"oababa"})), Texts{"1 o.(ab)2-2a"});
}

TEST(PathFolding, OwnersAndOrderTellApart) {
  EXPECT_EQ(texts(fold({"oxnny", "pxnny", "oynnx", "oxnnny"})),
            (Texts{"2 o.x(n)2-3y", "1 p.x(n)2-2y", "1 o.y(n)2-2x"}));
}

TEST(PathFolding, SeveralRepeats) {
  EXPECT_EQ(texts(fold({"oaanbbm", "oaaanbm", "onbbbbm", "onm"})), Texts{"4 o.(a)0-3n(b)0-4m"});
}

TEST(PathFolding, EachInstanceKnowsItsPath) {
  FoldedPaths folded = fold({"oxy", "ohnni", "ohni"});
  ASSERT_EQ(texts(folded), (Texts{"2 o.h(n)1-2i", "1 o.xy"}));
  EXPECT_EQ(paths_of(folded), (std::vector<u32>{1, 0, 0}));
  EXPECT_EQ(folded.paths[0].example, ObjectId{7});
}

TEST(PathFolding, WhatIsTooLongIsNotFolded) {
  std::string all = "o";
  GraphDice dice;
  for (u32 i = 0; i < 600; ++i)
    all += static_cast<char>('a' + (i % 5 + i / 5 * 5) % 23); // no squares
  FoldedPaths folded = fold({all, "ox"});
  EXPECT_EQ(texts(folded), Texts{"1 o.x"});
  EXPECT_EQ(paths_of(folded), (std::vector<u32>{FoldedPaths::none, 0}));
  EXPECT_EQ(folded.not_folded, 1u);
}

TEST(PathFolding, UnreachableInstances) {
  Graph graph;
  graph.add(8, {});
  ShortestPaths found(graph.edges(), 1, {});
  std::vector<ObjectId> instances{ObjectId{0}};
  FoldedPaths folded = fold_paths(found, graph.sizes(), instances, {}, 1, {});
  EXPECT_EQ(paths_of(folded), std::vector<u32>{FoldedPaths::none});
  EXPECT_EQ(folded.not_folded, 0u);
}

// In either order: the first instance is the end that is nearest to the root, or the farthest.
TEST(PathFolding, AListOfAMillionLinks) {
  constexpr u32 links = 1'000'000;
  std::vector<i64> parents(links);
  std::vector<u32> labels(links, 1);
  std::vector<ObjectId> all(links);
  for (u32 i = 0; i < links; ++i) {
    parents[i] = i64{i} - 1;
    all[i] = ObjectId{i};
  }
  labels[0] = 0;
  const Tree tree(parents, labels);
  for (unsigned threads : {1, 3}) {
    EXPECT_EQ(texts(tree.fold(all, threads)), Texts{"1000000 a.(b)0-999999"});
    std::reverse(all.begin(), all.end());
    EXPECT_EQ(texts(tree.fold(all, threads)), Texts{"1000000 a.(b)0-999999"});
  }
}

// So many paths that threads forget what they know of some, and counts of repeats that differ.
TEST(PathFolding, TheSameByAnyNumberOfThreads) {
  constexpr u32 objects = 60'000;
  GraphDice dice;
  std::vector<i64> parents(objects);
  std::vector<u32> labels(objects);
  std::vector<ObjectId> instances;
  for (u32 i = 0; i < objects; ++i) {
    parents[i] = i == 0 || dice(1000) == 0 ? -1 : static_cast<i64>(dice(10) == 0 ? i - 1 : dice(i));
    labels[i] = static_cast<u32>(dice(12));
    if (dice(2) == 0)
      instances.push_back(ObjectId{i});
  }
  const Tree tree(parents, labels);
  const FoldedPaths expected = tree.fold(instances);
  EXPECT_GT(expected.paths.size(), 4'096u);
  for (unsigned threads : {2, 3, 16}) {
    const FoldedPaths folded = tree.fold(instances, threads);
    EXPECT_EQ(facts(folded), facts(expected)) << threads << " threads";
    EXPECT_EQ(paths_of(folded), paths_of(expected)) << threads << " threads";
  }
}

// More states than there may be: what is folded is what one thread folds, instance by instance.
TEST(PathFolding, MoreStatesThanThereMayBe) {
  u64 left_out = 0;
  for (u64 seed = 1; seed <= 20; ++seed) {
    constexpr u32 objects = 30'000;
    GraphDice dice(seed);
    std::vector<i64> parents(objects);
    std::vector<u32> labels(objects);
    std::vector<ObjectId> instances;
    for (u32 i = 0; i < objects; ++i) {
      parents[i] = i == 0 || dice(100) == 0 ? -1 : static_cast<i64>(dice(i));
      labels[i] = static_cast<u32>(dice(30));
      if (dice(4) == 0)
        instances.push_back(ObjectId{i});
    }
    const Tree tree(parents, labels);
    const u32 most_states = 100 + static_cast<u32>(dice(5000));
    const FoldedPaths expected = tree.fold(instances, 1, most_states);
    left_out += expected.not_folded;
    for (unsigned threads : {2, 3, 16}) {
      const FoldedPaths folded = tree.fold(instances, threads, most_states);
      ASSERT_EQ(facts(folded), facts(expected)) << threads << " threads";
      ASSERT_EQ(paths_of(folded), paths_of(expected)) << threads << " threads";
    }
  }
  EXPECT_GT(left_out, 10'000u);
}

// The twin: each path on its own, all of its labels at hand.
struct TwinStep {
  std::vector<u32> labels;
  u32 times; // 1: does not repeat
};
using TwinPath = std::vector<TwinStep>; // the owner first

TwinPath twin_fold(const std::vector<u32> &labels) {
  TwinPath out{{{labels[0]}, 1}};
  u64 plain = 0; // steps at the end that do not repeat
  for (u64 i = 1; i < labels.size(); ++i) {
    out.push_back({{labels[i]}, 1});
    ++plain;
    for (u64 period = 1; period <= 4 && 2 * period <= plain; ++period) {
      std::vector<u32> unit(labels.begin() + static_cast<i64>(i + 1 - period),
                            labels.begin() + static_cast<i64>(i + 1));
      auto follows = [&](u64 at) {
        return at + period <= labels.size() &&
               std::equal(unit.begin(), unit.end(), labels.begin() + static_cast<i64>(at));
      };
      if (!follows(i + 1 - 2 * period))
        continue;
      out.resize(out.size() - 2 * period);
      u32 times = 2;
      for (; follows(i + 1); i += period)
        ++times;
      out.push_back({unit, times});
      plain = 0;
      break;
    }
  }
  return out;
}

// The ways in which a folded path stands for this one: how often each step occurs. A repeat is there as such, with one
// turn as plain steps, or not at all.
std::vector<std::vector<u32>> alignments(std::span<const FoldedStep> steps, std::span<const TwinStep> twin) {
  if (steps.empty())
    return twin.empty() ? std::vector<std::vector<u32>>{{}} : std::vector<std::vector<u32>>{};
  std::vector<std::vector<u32>> out;
  auto go_on = [&](u64 used, u32 times) {
    for (std::vector<u32> rest : alignments(steps.subspan(1), twin.subspan(used))) {
      rest.insert(rest.begin(), times);
      if (times >= steps[0].least && times <= steps[0].most)
        out.push_back(rest);
    }
  };
  const std::vector<u32> &labels = steps[0].labels;
  if (!twin.empty() && steps[0].repeats && twin[0].times > 1 && twin[0].labels == labels)
    go_on(1, twin[0].times);
  u64 plain = 0;
  while (plain < labels.size() && plain < twin.size() && twin[plain].times == 1 &&
         twin[plain].labels == std::vector{labels[plain]})
    ++plain;
  if (plain == labels.size())
    go_on(plain, 1);
  if (steps[0].repeats)
    go_on(0, 0);
  return out;
}

struct TreeCase {
  std::vector<i64> parents; // -1: a root
  std::vector<u32> labels;
  std::vector<ObjectId> instances;
};

void showValue(const TreeCase &value, std::ostream &to) {
  for (u64 i = 0; i < value.parents.size(); ++i)
    to << i << " below " << value.parents[i] << ", label " << value.labels[i] << "\n";
  to << "instances:";
  for (ObjectId instance : value.instances)
    to << " " << static_cast<u32>(instance);
}

TreeCase random_tree(u64 seed) {
  GraphDice dice(seed);
  TreeCase out;
  u32 objects = 1 + static_cast<u32>(dice(120)), letters = 1 + static_cast<u32>(dice(4));
  u64 deep = 1 + dice(8); // how near an object's parent is
  out.parents.resize(objects);
  out.labels.resize(objects);
  for (u32 i = 0; i < objects; ++i) {
    out.parents[i] = i == 0 || dice(30) == 0 ? -1 : i64{i} - 1 - static_cast<i64>(dice(std::min<u64>(i, deep)));
    out.labels[i] = static_cast<u32>(dice(letters));
    if (dice(3) == 0)
      out.instances.push_back(ObjectId{i});
  }
  return out;
}

// Without one object, whose children become its parent's; without one instance.
std::vector<TreeCase> smaller_trees(const TreeCase &of) {
  std::vector<TreeCase> out;
  for (u32 gone = 0; gone < of.parents.size(); ++gone) {
    TreeCase &tree = out.emplace_back();
    auto renumber = [&](i64 id) { return id - (id > gone); };
    for (u32 i = 0; i < of.parents.size(); ++i)
      if (i != gone) {
        tree.parents.push_back(renumber(of.parents[i] == gone ? of.parents[gone] : of.parents[i]));
        tree.labels.push_back(of.labels[i]);
      }
    for (ObjectId instance : of.instances)
      if (static_cast<u32>(instance) != gone)
        tree.instances.push_back(ObjectId{static_cast<u32>(renumber(static_cast<u32>(instance)))});
    if (tree.parents.empty())
      out.pop_back();
  }
  for (u64 i = 0; i < of.instances.size(); ++i) {
    out.push_back(of);
    out.back().instances.erase(out.back().instances.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

TEST(PathFolding, AsByTwin) {
  for_all(4000, values_of(random_tree, smaller_trees), [](const TreeCase &c) {
    Tree tree(c.parents, c.labels);
    const std::vector<ObjectId> &instances = c.instances;
    FoldedPaths folded = tree.fold(instances, static_cast<unsigned>(1 + instances.size() % 3));
    ASSERT_EQ(folded.not_folded, 0u);
    u64 total = 0, bytes = 0;
    for (const FoldedPath &path : folded.paths) {
      total += path.instances;
      bytes += path.bytes;
    }
    ASSERT_EQ(total, instances.size());
    ASSERT_EQ(bytes, 8 * instances.size());

    std::map<u32, u64> members;
    std::set<u32> ambiguous;                           // folded paths with an instance that fits in several ways
    std::map<std::vector<std::vector<u32>>, u32> same; // what folds to the same lands in one place
    std::vector<std::map<u64, std::pair<u32, u32>>> times(folded.paths.size());
    for (u64 i = 0; i < instances.size(); ++i) {
      u32 index = folded.path_of[i];
      ASSERT_LT(index, folded.paths.size());
      ++members[index];
      const FoldedPath &path = folded.paths[index];
      TwinPath twin = twin_fold(tree.sequence(instances[i]));
      std::vector<std::vector<u32>> key;
      for (const TwinStep &step : twin) {
        key.push_back(step.labels);
        key.push_back({step.times > 1});
      }
      auto [at, is_new] = same.emplace(key, index);
      ASSERT_EQ(at->second, index);

      ASSERT_EQ(twin[0].labels[0], path.owner);
      std::vector<std::vector<u32>> ways = alignments(path.steps, {twin.begin() + 1, twin.end()});
      ASSERT_FALSE(ways.empty()) << text(path);
      if (ways.size() > 1)
        ambiguous.insert(index);
      for (u64 step = 0; step < path.steps.size(); ++step) {
        auto [bounds, first] = times[index].try_emplace(step, ways[0][step], ways[0][step]);
        bounds->second.first = std::min(bounds->second.first, ways[0][step]);
        bounds->second.second = std::max(bounds->second.second, ways[0][step]);
      }
    }
    for (u32 index = 0; index < folded.paths.size(); ++index) {
      ASSERT_EQ(members[index], folded.paths[index].instances);
      if (!ambiguous.contains(index)) {
        for (auto [step, bounds] : times[index])
          ASSERT_EQ(std::pair(folded.paths[index].steps[step].least, folded.paths[index].steps[step].most), bounds)
              << text(folded.paths[index]);
      }
    }
  });
}

} // namespace
} // namespace dnheap::test
