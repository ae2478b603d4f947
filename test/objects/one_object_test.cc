// Questions about one object, answered from the heap, against the same from the graph's arrays.
#include "algorithms/dominator_tree.h"
#include "algorithms/reach.h"
#include "objects/find_referrers.h"
#include "objects/live.h"
#include "objects/object_graph.h"
#include "support/random_graph.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

class OneObject : public testing::Test {
protected:
  void each_random_graph(const std::function<void(Indexed &, const ObjectGraph &, RandomGraph &)> &test) {
    for (u64 seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(seed);
      std::mt19937_64 random(seed);
      HeapShape shape;
      shape.format = seed % 2 ? Format{8, ByteOrder::little} : Format{4, ByteOrder::big};
      RandomGraph made(shape, random, 4, 200, 75); // mostly null, so that some objects hold others alone
      std::vector<Dependent> dependents = {{made.random_object(), made.random_object()},
                                           {made.random_object(), made.random_object()}};
      Indexed in(made.heap, dependents);
      ObjectGraph graph(*in.index, *in.references, in.opened.heap, 2, {});
      test(in, graph, made);
    }
  }
};

TEST_F(OneObject, Referrers) {
  each_random_graph([](Indexed &in, const ObjectGraph &graph, RandomGraph &made) {
    Referrers all(graph.edges(), 2, {});
    for (int i = 0; i < 20; ++i) {
      Address object = made.random_object();
      ObjectId id = in.index->find(object);
      if (id == no_object)
        continue;
      std::span<const ObjectId> known = all.edges().of(id);
      std::vector<ObjectId> expected(known.begin(), known.end());
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      for (unsigned threads : {1u, 3u})
        EXPECT_EQ(find_referrers(*in.index, *in.references, object, threads, {}), expected);
    }
  });
}

// What is found only by way of an object is what it dominates.
TEST_F(OneObject, WhatWouldBeFreedWithIt) {
  u64 most = 0;
  each_random_graph([&](Indexed &in, const ObjectGraph &graph, RandomGraph &made) {
    RootStage stage;
    std::vector<OwnedRoot> roots;
    for (int i = 0; i < 5; ++i) {
      stage.objects.push_back(made.random_object());
      if (ObjectId id = in.index->find(stage.objects.back()); id != no_object)
        roots.push_back({id, OwnerId{0}});
    }
    const ObjectSizeColumn sizes(*in.index, *in.references, in.opened.heap, 2, {});
    DominatorTree tree(graph.edges(), sizes.sizes(), {1, 1, roots}, 2, {});
    for (u32 i = 0; i < graph.objects(); i += 7) {
      std::optional<TreePlace> place = tree.place(ObjectId{i});
      const Address object = in.index->address(ObjectId{i});
      LiveMarking marking(*in.index, *in.references, 2, {}, 4);
      marking.hold_back(object);
      marking.mark(stage);
      EXPECT_TRUE(marking.found(object)); // held back counts as found
      marking.let_through(object);
      EXPECT_FALSE(marking.found(object));
      LiveStage freed = marking.mark({"", {object}});
      if (place) {
        EXPECT_EQ(freed.objects, tree.retained(*place).objects);
        most = std::max(most, freed.objects);
        if (in.opened.runtime.memory().format().pointer_size == 8) {
          EXPECT_EQ(freed.aligned_bytes, tree.retained(*place).bytes);
        }
      }
      EXPECT_TRUE(marking.take().test(object));
    }
  });
  EXPECT_GT(most, 5u);
}

// Whatever was found before, and with whatever roots.
TEST_F(OneObject, AllThatCanBeReachedFromIt) {
  u64 shared = 0;
  each_random_graph([&](Indexed &in, const ObjectGraph &graph, RandomGraph &made) {
    RootStage stage;
    for (int i = 0; i < 3; ++i)
      stage.objects.push_back(made.random_object());
    const ObjectSizeColumn sizes(*in.index, *in.references, in.opened.heap, 2, {});
    for (u32 i = 0; i < graph.objects(); i += 7) {
      Reach reach(graph.edges(), 1, {});
      reach.from(std::vector{ObjectId{i}});
      const Address object = in.index->address(ObjectId{i});
      for (bool held_back : {true, false}) {
        LiveMarking marking(*in.index, *in.references, 1 + i % 3, {}, 4);
        if (held_back)
          marking.hold_back(object);
        marking.mark(stage);
        if (held_back)
          marking.let_through(object);
        const LiveMarking::Closure found = marking.mark_closure(object);
        EXPECT_EQ(found.all.objects, reach.total(sizes.sizes()).objects);
        if (in.opened.runtime.memory().format().pointer_size == 8) {
          EXPECT_EQ(found.all.aligned_bytes, reach.total(sizes.sizes()).bytes);
        }
        shared += found.fresh.objects > 0 && found.fresh.objects < found.all.objects;
      }
    }
  });
  EXPECT_GT(shared, 5u);
}

} // namespace
} // namespace dnheap::test
