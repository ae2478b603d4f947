// How much memory this process allows itself: limit_memory() (host.h), and what that does not see. Linux; elsewhere
// these do nothing.
#pragma once
#include "base/integers.h"

namespace dnheap {

// Where the process's control group has a limit, allocations fail before that is reached: the kernel would end this
// process, or another one of the container. False where none is known. What threads' stacks reserve comes on top of it.
bool limit_memory_to_group(unsigned threads);

// Memory that is taken, but not by what limit_memory() counts: files in memory, and what is read-only. As long as this
// object lives the limit is lower by it. Nothing where limit_memory() was not called: the limit is not ours then.
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
