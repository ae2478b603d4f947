#include "analysis/waits/waits_of_threads.h"

namespace dnheap {

WaitsOfThreads::WaitsOfThreads(const std::vector<ThreadWait> &waits) {
  for (const ThreadWait &wait : waits)
    waits_[wait.thread].push_back(&wait);
}

std::span<const ThreadWait *const> WaitsOfThreads::of(u32 thread) const {
  auto found = waits_.find(thread);
  return found != waits_.end() ? std::span<const ThreadWait *const>(found->second)
                               : std::span<const ThreadWait *const>();
}

} // namespace dnheap
