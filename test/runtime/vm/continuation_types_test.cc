// Types of suspended runtime-async calls: known by the EEClass that they share and their parent, walked and named.
#include "heap/tally.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

template <class Visit> void in_all_formats(Visit visit) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    visit(HeapShape{.format = format, .net = Net::net11});
  }
}

TEST(ContinuationTypes, AreSoundThoughTheirClassPointsAtAnotherOne) {
  in_all_formats([](const HeapShape &shape) {
    HeapBuilder heap(shape);
    const u64 p = heap.p;
    const Address first = heap.continuation_type(2 * p, {0}), second = heap.continuation_type(3 * p, {p, 2 * p});
    SegmentWriter &young = heap.segment(G::gen0);
    young.object(first);
    young.object(second);
    young.object(heap.object_type);
    Opened opened(heap);
    const HeapTally tally = tally_heap(opened.heap, opened.runtime, 1, {});
    EXPECT_EQ(tally.walk.objects, 3u);
    EXPECT_TRUE(tally.walk.gaps.empty());
    TypeSystem &types = opened.runtime.types();
    const std::string of_words[] = {std::to_string(p), std::to_string(2 * p)};
    EXPECT_EQ(types.name(first), "Continuation_" + of_words[1] + "_0_1");
    EXPECT_EQ(types.name(second),
              "Continuation_" + std::to_string(3 * p) + "_" + of_words[0] + "_1_" + of_words[1] + "_1");
    EXPECT_TRUE(opened.runtime.is_continuation(second));
    EXPECT_FALSE(opened.runtime.is_continuation(heap.continuation_base));
    EXPECT_FALSE(opened.runtime.is_continuation(heap.object_type));
    EXPECT_TRUE(types.notes().empty());
  });
}

TEST(ContinuationTypes, AnotherParentOrAnotherClassIsNone) {
  in_all_formats([](const HeapShape &shape) {
    for (u64 word : {0, 3}) { // parent, EEClass
      HeapBuilder heap(shape);
      heap.continuation_type(heap.p, {});
      const Address odd = heap.continuation_type(heap.p, {});
      SegmentWriter &young = heap.segment(G::gen0);
      young.object(odd);
      const Address other = heap.native.reserve(16 * heap.p);
      heap.poke(odd + 16 + word * heap.p, word ? other : heap.object_type, heap.p);
      Opened opened(heap);
      EXPECT_FALSE(opened.runtime.is_continuation(odd));
      EXPECT_FALSE(opened.runtime.types().object_layout(odd));
    }
  });
}

// Of a runtime that has none of this nothing is one.
TEST(ContinuationTypes, OfOtherRuntimesThereAreNone) {
  HeapBuilder heap(HeapShape{.net = Net::net10});
  heap.segment(G::gen0).object(heap.object_type);
  Opened opened(heap);
  EXPECT_FALSE(opened.runtime.is_continuation(heap.object_type));
  EXPECT_FALSE(opened.runtime.continuation_layout());
}

} // namespace
} // namespace dnheap::test
