// Limits of this process's memory: limit_memory() (host.h), and memory that it does not count. Linux; elsewhere these
// do nothing.
#pragma once
#include "base/integers.h"

namespace dnheap {

// If the process's control group has a limit, makes allocations fail before it is reached: otherwise the kernel would
// end this process, or another one in the container. Returns false if no limit is known. The limit is raised by the
// size of the stacks of `threads` threads, which is reserved but hardly used.
bool limit_memory_to_group(unsigned threads);

// Memory in use that limit_memory() does not count: files in memory, and read-only memory. As long as this object
// lives, the limit is lower by `bytes`. Does nothing if limit_memory() was not called: then the limit is not ours.
class UncountedMemory {
public:
  explicit UncountedMemory(u64 bytes);
  ~UncountedMemory();
  UncountedMemory(const UncountedMemory &) = delete;
  UncountedMemory &operator=(const UncountedMemory &) = delete;

private:
  const u64 bytes_;
};

} // namespace dnheap
