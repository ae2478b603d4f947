// Stacks for the threads of a HeapBuilder, with nothing on them: then all roots are known, and what is dead can be
// told.
#pragma once
#include "support/heap_builder.h"

namespace dnheap::test {

inline void give_stacks(HeapBuilder &heap) {
  constexpr u64 size = 0x2000;
  Address stack = align_up(heap.native.reserve((heap.threads.size() + 1) * size), 0x1000);
  for (ThreadWriter &thread : heap.threads) {
    thread.stack_limit = stack;
    thread.stack_base = stack += size;
    thread.stack_pointer = thread.stack_limit + 0x1000;
  }
}

} // namespace dnheap::test
