// PoolStands: the workers of .NET's own thread pool by the state that their stacks show: idle, or blocked and by what.
// The pool itself counts only those that wait for a task. Costs a look at each thread. One thread.
#pragma once
#include "analysis/threads/thread_text.h"

#include <map>
#include <span>
#include <string>

namespace dnheap {

struct PoolStands {
  u64 workers = 0, idle = 0, blocked = 0;
  std::map<std::string, u64> waits; // "a lock" → number of blocked workers
  // Returns "3 for a lock, 1 for a task"; empty if no worker is blocked.
  std::string text() const;
};

// `waits`: for each thread what it waits for.
PoolStands find_pool_stands(const Runtime &runtime, std::span<const ThreadData> threads,
                            std::span<const WaitText> waits);

} // namespace dnheap
