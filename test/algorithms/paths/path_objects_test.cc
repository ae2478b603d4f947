// Objects on paths, against paths that are gone along one by one.
#include "algorithms/paths/path_objects.h"
#include "support/property.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(PathObjects, AsByGoingAlongEachPath) {
  u64 inner = 0;
  for_all(1000, graphs(60, 400), [&](const GraphCase &c) {
    const Graph &graph = c.graph;
    ShortestPaths search(graph.edges(), 1, {});
    search.grow(graph.owners());
    GraphDice dice(c.seed);
    std::vector<ObjectId> instances;
    std::vector<bool> all(graph.objects()), leads_on(graph.objects());
    for (u32 i = 0; i < graph.objects(); ++i)
      if (search.met(ObjectId{i}) && dice(4) == 0) {
        instances.push_back(ObjectId{i});
        for (ObjectId on : search.path(ObjectId{i})) {
          all[static_cast<u32>(on)] = true;
          if (on != ObjectId{i})
            leads_on[static_cast<u32>(on)] = true;
        }
      }
    const PathObjects found(search, graph.objects(), instances, static_cast<unsigned>(1 + c.seed % 3), {});
    for (u32 i = 0; i < graph.objects(); ++i) {
      ASSERT_EQ(found.all.test(i), all[i]) << "object " << i;
      ASSERT_EQ(found.inner.test(i), leads_on[i]) << "object " << i;
      inner += leads_on[i];
    }
  });
  EXPECT_GT(inner, 1000u);
}

} // namespace
} // namespace dnheap::test
