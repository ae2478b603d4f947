// ThreadMemory: what each thread's stack takes. On x64 glibc's and musl's own record of the thread says it, which lies
// at the stack's upper end; else it is the mapping that holds the stack pointer. Some 300 loads per thread. Call from
// one thread.
#pragma once
#include "target/target.h"

#include <vector>

namespace dnheap {

struct ThreadMemory {
  u64 thread = 0; // as Thread::id
  // Without guard pages; with what else the C library keeps there for the thread.
  Address start = 0, end = 0;
  Address in_use = 0;      // from here on: the page of the stack pointer
  bool is_certain = false; // said by the thread's record; else the mapping may hold more than the stack
};

std::vector<ThreadMemory> find_thread_memory(const Target &target);

} // namespace dnheap
