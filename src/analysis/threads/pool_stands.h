// PoolStands: the workers of .NET's own thread pool by the state that their stacks show: idle, or blocked and by what.
// The pool itself counts only workers that wait for a task as blocked. Every answer takes its numbers of workers from
// here, so that no two answers differ. Costs a look at each thread. Not for several threads at once.
#pragma once
#include "analysis/threads/thread_text.h"

#include <map>
#include <span>
#include <string>

namespace dnheap {

struct PoolStands {
  u64 workers = 0, idle = 0, blocked = 0;
  std::map<std::string, u64> waits; // "a lock" → number of blocked workers
  u64 queued = 0;                   // work items that wait for a worker
  bool is_queue_cut = false;        // true: more items wait than `queued`
  // Returns "3 for a lock, 1 for a task"; empty if no worker is blocked.
  std::string text() const;
  // True if work waits, no worker is idle, and half of the workers are blocked or at least two items wait per worker.
  bool is_starved() const;
  // "40 work items wait for a worker, and of 19 workers 19 are blocked: 19 for a lock"
  std::string starved_text() const;
};

// `waits`: for each thread what it waits for. The caller sets `queued`.
PoolStands find_pool_stands(const Runtime &runtime, std::span<const ThreadData> threads,
                            std::span<const WaitText> waits);

} // namespace dnheap
