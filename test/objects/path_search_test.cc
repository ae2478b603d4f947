// The way to one object straight from the heap, against the search over the graph's arrays.
#include "objects/path_search.h"
#include "support/property.h"
#include "support/random_graph.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Way = std::pair<u32, std::vector<ObjectId>>; // owner, objects

std::optional<Way> way(std::optional<OwnedPath> path) {
  return path ? std::optional(Way{static_cast<u32>(path->owner), path->objects}) : std::nullopt;
}

TEST(PathSearch, FindsWhatTheSearchOverTheGraphFinds) {
  u64 found = 0, lost = 0, longest = 0;
  for_all(40, heaps(100), [&](const HeapCase &c) {
    std::mt19937_64 random(c.seed);
    RandomGraph made({.format = c.format}, random, c.bad, c.objects, c.null);
    std::vector<Dependent> dependents;
    for (u64 i = 0; i < c.dependents; ++i)
      dependents.push_back({made.random_object(), made.random_object()});
    std::sort(dependents.begin(), dependents.end());
    std::vector<Address> holders;
    for (const auto &[address, object] : made.objects())
      if (random() % 10 == 0)
        holders.push_back(address);
    Indexed in(made.heap, dependents);
    std::vector<std::vector<OwnedRoot>> ranks(3);
    for (u32 owner = 0; owner < 6; ++owner)
      ranks[owner / 2].push_back({in.index->find(made.random_object()), OwnerId{5 - owner}});
    ranks[1].push_back({ranks[1][0].object, OwnerId{9}}); // several owners hold it
    ObjectGraph graph(*in.index, *in.references, in.opened.heap, 1, {}, holders);

    for (u32 i = 0; i < in.index->count(); i += 3 + i % 5) {
      const ObjectId object{i};
      ShortestPaths twin(graph.edges(), 1, {});
      std::optional<OwnedPath> wanted;
      for (u64 rank = 0; rank < ranks.size() && !wanted; ++rank) {
        twin.grow(ranks[rank], object);
        if (twin.met(object))
          wanted = {*twin.owner(twin.path(object).front()), twin.path(object)};
      }
      (wanted ? found : lost)++;
      longest = std::max<u64>(longest, wanted ? wanted->objects.size() : 0);
      for (unsigned threads : {1u, 3u})
        for (u64 most_places : {u64{1} << 32, u64{0}}) {
          PathSearch search(*in.index, *in.references, object, threads, {}, holders, most_places);
          std::optional<OwnedPath> path;
          for (u64 rank = 0; rank < ranks.size() && !path; ++rank)
            path = search.grow(ranks[rank]);
          ASSERT_EQ(way(path), way(wanted)) << "object " << i << ", " << threads << " threads";
        }
    }
  });
  EXPECT_GT(found, 400u);
  EXPECT_GT(lost, 100u);
  EXPECT_GT(longest, 4u);
}

// Wherever the object is: what leads nowhere is counted of all that the roots reach.
TEST(PathSearch, CountsWhatLeadsNowhere) {
  std::mt19937_64 random(23);
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    RandomGraph made({.format = format}, random, 10);
    Indexed in(made.heap);
    std::vector<OwnedRoot> roots;
    for (u32 i = 0; i < in.index->count(); ++i)
      roots.push_back({ObjectId{i}, OwnerId{0}});
    for (unsigned threads : {1u, 3u}) {
      PathSearch search(*in.index, *in.references, ObjectId{7}, threads, {});
      EXPECT_EQ(search.grow(roots)->objects, std::vector{ObjectId{7}});
      EXPECT_EQ(search.bad_references(), made.bad.size());
      EXPECT_FALSE(search.grow(roots));
    }
  }
}

// As many levels as objects, and a level of many objects behind a large array, whose last element leads on.
TEST(PathSearch, ALongListBehindALargeArray) {
  constexpr u64 items = 100000, links = 5000;
  HeapBuilder heap({});
  const Address node = heap.method_table({.base_size = 24, .series = {{8, 8}}});
  SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2), &large = heap.segment(GCSegmentGeneration::loh);
  const Address array = large.object(heap.object_array_type, items);
  Address last = 0;
  for (u64 i = 0; i < items; ++i)
    large.block.pointer(array + (2 + i) * 8, last = segment.object(node));
  for (u64 i = 0; i < links; ++i) {
    const Address next = segment.object(node);
    segment.block.pointer(last + 8, next);
    last = next;
  }
  Indexed in(heap);
  const OwnedRoot root{in.index->find(array), OwnerId{7}};
  for (unsigned threads : {1u, 2u, 16u}) {
    PathSearch search(*in.index, *in.references, in.index->find(last), threads, {});
    const std::optional<OwnedPath> path = search.grow({&root, 1});
    ASSERT_TRUE(path);
    EXPECT_EQ(path->owner, OwnerId{7});
    EXPECT_EQ(path->objects.size(), 2 + links);
    EXPECT_EQ(path->objects.front(), root.object);
    EXPECT_EQ(path->objects.back(), in.index->find(last));
  }
}

} // namespace
} // namespace dnheap::test
