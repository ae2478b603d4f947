// ThreadPool: the state of .NET's own thread pool: its workers, and the work in its queues, by queue, type and method.
// One walk of the heap and some reads per queued item. Not for several threads at once.
// Source: dotnet/runtime src/libraries/System.Private.CoreLib/src/System/Threading/{PortableThreadPool,
// ThreadPoolWorkQueue}*.cs, Collections/Concurrent/ConcurrentQueue*.cs.
#pragma once
#include "analysis/shapes/state_machines.h"
#include "analysis/shapes/suspended_calls.h"
#include "snapshot/snapshot.h"

namespace dnheap {

struct PoolWorkers {
  // Absent if the runtime has another pool, or the field is unknown.
  std::optional<u32> existing, working, goal, least, most, blocked;
};

// Queued items of one queue, type and method.
struct QueuedWork {
  std::string queue; // "global", "high_priority", "low_priority", "assigned", "local"
  std::string type, method;
  u64 count = 0;
  Address example = 0;
};

struct ThreadPool {
  PoolWorkers workers;
  std::vector<QueuedWork> queued;    // by count
  std::set<Address> suspended_tasks; // queued RuntimeAsyncTasks, whose calls are about to resume
  u64 queued_items = 0;
  bool is_cut = false; // true: the queues have more items than were read
};

ThreadPool read_thread_pool(const Snapshot &snapshot);

} // namespace dnheap
