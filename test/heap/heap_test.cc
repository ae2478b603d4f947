// Heap: segments, allocation contexts cut out, missing memory; on every kind of synthetic process.
#include "heap/tally.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

TEST(Smoke, All) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder b(shape);
    Address node = b.type("Shop.Node", 1);
    for (u32 h = 0; h < shape.heaps; ++h) {
      SegmentWriter &y = shape.regions ? b.segment(G::gen0, h) : b.ephemeral(h);
      if (!shape.regions) { y.object(node); y.begin_gen1(); y.string("one"); y.begin_gen0(); }
      y.object(node);
      y.string("hello");
      if (h == 0) b.threads[0].context = y.context(80);
      y.free(100);
      b.segment(G::loh, h).object(b.object_array_type, 1000);
      b.segment(G::frozen, h).string("frozen");
    }
    try {
      Opened o(b);
      HeapTally t = tally_heap(o.heap, o.runtime, 1, {});
      EXPECT_EQ(t.walk.objects, b.objects.size());
      EXPECT_EQ(t.walk.bad_objects, 0u);
      EXPECT_TRUE(o.heap.problems().empty()) << o.heap.problems()[0];
      EXPECT_EQ(o.runtime.types().name(node), "Shop.Node");
      EXPECT_EQ(o.runtime.types().name(b.object_array_type), "System.Object[]");
      EXPECT_EQ(t.walk.bytes + o.heap.context_bytes(), o.heap.segment_bytes());
    } catch (const Error &e) { ADD_FAILURE() << e.what(); }
  }
}

} // namespace
} // namespace dnheap::test
