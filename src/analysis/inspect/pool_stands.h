// PoolStands: where the workers of .NET's own thread pool stand, by their stacks: who idles, and who waits for what.
// The pool itself counts only those that wait for a task. One walk of each worker's stack, some 10 µs a frame. One
// thread.
#pragma once
#include "snapshot/snapshot.h"

#include <map>
#include <string>

namespace dnheap {

struct PoolStands {
  u64 workers = 0, idle = 0, blocked = 0;
  std::map<std::string, u64> waits; // "a lock" → how many of those that are blocked
  // "3 for a lock, 1 for a task"; empty: nobody is blocked.
  std::string text() const;
};

PoolStands find_pool_stands(Snapshot &snapshot);

} // namespace dnheap
