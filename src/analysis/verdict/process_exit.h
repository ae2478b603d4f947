// ProcessExit: whether the process is about to end, and what its end waits for. CoreCLR lets the thread that runs
// finalizers call the handlers of AppDomain.ProcessExit, and everybody who has called Environment.Exit waits for that
// thread. So neither a handler nor a finalizer may wait for long. Walks the stacks of one or two threads. Not for
// several threads at once.
#pragma once
#include "analysis/threads/thread_places.h"

#include <optional>
#include <span>
#include <string>

namespace dnheap {

struct ProcessExit {
  std::string begun_by;           // "thread Stopper called Environment.Exit in Shop.Host.Stop", "Main has returned"
  std::optional<u32> caller = {}; // of Environment.Exit: its index in the list of threads
  u32 runner = 0;                 // the thread that runs handlers and finalizers
  bool is_handler = false;        // it runs a handler; false: a finalizer
};

// `groups`: places of the threads, which show who calls Environment.Exit. Returns nullopt if the process is not known
// to end, or if its end waits for neither a handler nor a finalizer.
std::optional<ProcessExit> find_process_exit(const Snapshot &snapshot, std::span<const ThreadData> threads,
                                             std::span<const ThreadGroup> groups, SourceLines &lines);

} // namespace dnheap
