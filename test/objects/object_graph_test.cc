// The arrays against what the test itself wrote into the objects.
#include "objects/object_graph.h"
#include "support/random_graph.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(ObjectGraph, HasTheEdgesThatTheTestWrote) {
  std::mt19937_64 random(15);
  for (Format format : all_formats)
    for (unsigned threads : {1u, 3u}) {
      SCOPED_TRACE(name_of(format));
      RandomGraph made({.format = format}, random);
      std::map<Address, WrittenObject> objects = made.objects();
      std::vector<Dependent> dependents;
      for (int i = 0; i < 50; ++i)
        dependents.push_back({made.random_object(), made.random_object()});
      dependents.push_back({made.random_object(), made.random_object() + made.p});
      std::sort(dependents.begin(), dependents.end());
      Indexed in(made.heap, dependents);
      ObjectSizeColumn sizes(in.index->count());
      ObjectGraph graph(*in.index, *in.references, in.opened.heap, threads, {}, {}, &sizes);
      const ObjectSizeColumn again(*in.index, *in.references, in.opened.heap, threads, {});
      ASSERT_EQ(graph.objects(), objects.size());
      EXPECT_EQ(graph.bad_references(), made.bad.size() + 1);
      ASSERT_EQ(graph.edges().objects(), objects.size());
      u64 edges = 0;
      std::vector<std::vector<ObjectId>> referrers(objects.size());
      u32 id = 0;
      for (const auto &[address, object] : objects) {
        EXPECT_EQ(in.references->types()[graph.type(ObjectId(id))].method_table, object.method_table);
        EXPECT_EQ(sizes.sizes().of(ObjectId(id)), object.aligned_size);
        EXPECT_EQ(again.sizes().of(ObjectId(id)), object.aligned_size);
        std::vector<Address> wanted, found;
        for (Address target : made.targets[address])
          if (objects.contains(target))
            wanted.push_back(target);
        for (const Dependent &d : dependents)
          if (d.key == address && objects.contains(d.secondary))
            wanted.push_back(d.secondary);
        const Edges references = graph.edges();
        for (ObjectId target : references.of(ObjectId(id))) {
          found.push_back(in.index->address(target));
          referrers[static_cast<u32>(target)].push_back(ObjectId(id));
        }
        ASSERT_EQ(found, wanted);
        edges += wanted.size();
        ++id;
      }
      EXPECT_EQ(graph.edges().targets.size(), edges);
      Referrers turned(graph.edges(), threads, {});
      for (u32 i = 0; i < objects.size(); ++i) {
        std::span<const ObjectId> of = turned.edges().of(ObjectId(i));
        ASSERT_EQ(std::vector<ObjectId>(of.begin(), of.end()), referrers[i]);
      }
    }
}

// Some objects' references are the roots' business.
TEST(ObjectGraph, LeavesOutHolders) {
  std::mt19937_64 random(17);
  RandomGraph made({}, random, 0);
  std::map<Address, WrittenObject> objects = made.objects();
  std::vector<Address> holders = {1};
  for (const auto &[address, object] : objects)
    if (random() % 5 == 0)
      holders.push_back(address);
  Indexed in(made.heap);
  ObjectGraph graph(*in.index, *in.references, in.opened.heap, 2, {}, holders);
  for (const auto &[address, object] : objects) {
    bool left_out = std::binary_search(holders.begin(), holders.end(), address);
    ASSERT_EQ(graph.edges().of(in.index->find(address)).size(), left_out ? 0 : made.targets[address].size());
  }
}

// Many blocks of targets, and one object with a great many referrers.
TEST(Referrers, OfManyObjects) {
  constexpr u32 count = 300000;
  std::mt19937_64 random(16);
  std::vector<u64> first{0};
  std::vector<ObjectId> targets;
  std::vector<u64> referrers(count);
  for (u32 i = 0; i < count; ++i) {
    for (u64 edges = random() % 4; edges; --edges) {
      u32 target = random() % 3 ? static_cast<u32>(random() % count) : 12345;
      targets.push_back(ObjectId(target));
      ++referrers[target];
    }
    first.push_back(targets.size());
  }
  for (unsigned threads : {1u, 3u}) {
    Referrers turned({first, targets}, threads, {});
    u64 wrong = 0, all = 0;
    for (u32 i = 0; i < count; ++i) {
      std::span<const ObjectId> of = turned.edges().of(ObjectId(i));
      wrong += of.size() != referrers[i] || !std::is_sorted(of.begin(), of.end());
      for (ObjectId source : of) {
        auto begin = targets.begin() + static_cast<i64>(first[static_cast<u32>(source)]);
        auto end = targets.begin() + static_cast<i64>(first[static_cast<u32>(source) + 1]);
        wrong += std::find(begin, end, ObjectId(i)) == end;
      }
      all += of.size();
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(all, targets.size());
  }
  Referrers none({}, 2, {});
  EXPECT_EQ(none.edges().objects(), 0u);
}

} // namespace
} // namespace dnheap::test
