// Random heaps for walk tests: objects of many sizes, Free ones, allocation contexts, all generations.
#pragma once
#include "support/heap_builder.h"

#include <random>

namespace dnheap::test {

struct RandomTypes {
  std::vector<Address> fixed; // of 1, 2, … words
  Address bytes = 0, numbers = 0, references = 0;

  explicit RandomTypes(HeapBuilder &heap);
};

// Appends objects until the segment has grown by `size`; the contents of arrays are random or, as if by malice, look
// like sound objects, unless there are to be no such traps.
void add_random_objects(HeapBuilder &heap, SegmentWriter &segment, const RandomTypes &types, u64 size,
                        std::mt19937_64 &random, bool traps = true);

// A heap of several segments of each generation, with one allocation context per thread.
void add_random_heap(HeapBuilder &heap, u64 size, std::mt19937_64 &random, bool traps = true);

} // namespace dnheap::test
