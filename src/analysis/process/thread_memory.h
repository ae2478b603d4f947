// ThreadMemory: the memory of each thread's stack. On x64 its bounds come from glibc's or musl's own record of the
// thread, which lies at the stack's upper end; otherwise they are those of the mapping that contains the stack pointer.
// Some 300 loads per thread. Not for several threads at once.
#pragma once
#include "target/target.h"

#include <vector>

namespace dnheap {

struct ThreadMemory {
  u64 thread = 0; // as Thread::id
  // The stack without its guard pages, but with other data that the C library keeps for the thread.
  Address start = 0, end = 0;
  Address in_use = 0;      // beginning of the part in use: the page of the stack pointer
  bool is_certain = false; // from the thread's record; otherwise the mapping may contain more than the stack
};

std::vector<ThreadMemory> find_thread_memory(const Target &target);

// Returns the address of the C library's record of the thread, around which the thread's variables lie; 0: unknown.
Address thread_record(const Target &target, const Thread &thread);

} // namespace dnheap
