// WaitsOfThreads: the waits of a list by thread, to follow them from thread to thread. A look-up each. Any thread.
#pragma once
#include "analysis/waits/thread_waits.h"

#include <map>
#include <span>
#include <vector>

namespace dnheap {

class WaitsOfThreads {
public:
  // `waits` must outlive this object.
  explicit WaitsOfThreads(const std::vector<ThreadWait> &waits);

  // Empty: the thread waits for nothing.
  std::span<const ThreadWait *const> of(u32 thread) const;
  // Null: the thread waits for nothing.
  const ThreadWait *first_of(u32 thread) const { return of(thread).empty() ? nullptr : of(thread)[0]; }

private:
  std::map<u32, std::vector<const ThreadWait *>> waits_; // by thread
};

} // namespace dnheap
