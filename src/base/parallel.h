// parallel_for: the only form of concurrency here. Each iteration writes its own slot; the caller merges afterwards.
// Costs one thread start per extra thread (~30 us), so loops with little work should pass threads = 1. If the system
// refuses a thread (a limit on processes, a security profile), the existing threads do all the work.
#pragma once
#include "base/integers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace dnheap {

// Calls body(i, worker) for each i in [0, count), from up to `threads` threads; worker < threads identifies the thread,
// so that scratch space can be kept per worker. Iterations are handed out in order, one by one. None may wait for
// another one, as there may be one thread only. After the first exception no more iterations start, and it is rethrown
// here once all threads have ended.
template <class Body> void parallel_for(u64 count, unsigned threads, Body body) {
  std::atomic<u64> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  auto work = [&](unsigned worker) {
    try {
      for (u64 i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
        body(i, worker);
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      if (!failed.exchange(true))
        error = std::current_exception();
    }
  };
  unsigned extra = static_cast<unsigned>(std::min<u64>(std::max(threads, 1u), std::max<u64>(count, 1))) - 1;
  std::vector<std::jthread> pool;
  pool.reserve(extra);
  try {
    for (unsigned worker = 1; worker <= extra; ++worker)
      pool.emplace_back(work, worker);
  } catch (const std::system_error &) { // refused
  }
  work(0);
  pool.clear();
  if (error)
    std::rethrow_exception(error);
}

// The same for cheap iterations: calls body(begin, end, worker) for parts of [0, count), each but the last of
// part_size.
template <class Body> void parallel_for_parts(u64 count, u64 part_size, unsigned threads, Body body) {
  parallel_for((count + part_size - 1) / part_size, threads, [&](u64 part, unsigned worker) {
    body(part * part_size, std::min(count, (part + 1) * part_size), worker);
  });
}

} // namespace dnheap
