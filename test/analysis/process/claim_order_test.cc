// Colours of claims to memory: which class a colour stands for, and which claim counts.
#include "algorithms/coloring.h"
#include "analysis/process/claim_order.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(ClaimOrder, AColourStandsForItsClass) {
  for (const MemoryClass memory : {MemoryClass::gc_behind_objects, MemoryClass::handle_tables,
                                   MemoryClass::stacks_in_use, MemoryClass::images, MemoryClass::malloc_not_walked})
    for (const bool is_guess : {false, true})
      EXPECT_EQ(class_of(colour_of(memory, is_guess)), memory);
  EXPECT_EQ(class_of(colour_of_segment), MemoryClass::objects);
  EXPECT_EQ(class_of(Coloring::none), MemoryClass::not_identified);
}

TEST(ClaimOrder, LikelyClaimsComeAfterCertainOnes) {
  EXPECT_LT(colour_of_segment, colour_of(MemoryClass::gc_behind_objects));
  EXPECT_LT(colour_of(MemoryClass::gc_behind_objects), colour_of(MemoryClass::loader_heaps));
  EXPECT_LT(colour_of(MemoryClass::malloc_in_use), colour_of(MemoryClass::images));
  EXPECT_LT(colour_of(MemoryClass::malloc_not_walked), colour_of(MemoryClass::gc_behind_objects, true));
}

} // namespace
} // namespace dnheap::test
