// PoolPlaces: where the workers of .NET's thread pool stand, in the program's own methods, and which method most of the
// waiting work items run. That shows what to change; the numbers of workers and items (pool_stands.h) do not. Walks one
// stack. Not for several threads at once.
#pragma once
#include "analysis/threads/thread_places.h"
#include "analysis/threads/thread_pool.h"

#include <span>

namespace dnheap {

// Returns the place of most workers, in words: "29 wait for a task in Shop.Orders.Get (Orders.cs:4), by Task.Result".
// If some are blocked, only the places of these count. `groups`: of ThreadPlaces, with indices in `threads`. Empty: no
// worker stands in a method of the program.
std::string place_of_workers(const Runtime &runtime, std::span<const ThreadData> threads,
                             std::span<const ThreadGroup> groups, bool is_any_blocked, SourceLines &lines);

// Returns "400 of the items run a lambda in Run of Shop.Import"; empty: no such method of the program is known.
std::string work_in_queue(const ThreadPool &pool, const FrameworkNames &framework);

// Returns the call by which a thread's program waits for a task: "Task.Result", "GetAwaiter().GetResult()",
// "Task.Wait", "Task.WaitAll"; empty: its frames do not show one.
std::string blocking_call(const Runtime &runtime, const WalkedStack &stack);

} // namespace dnheap
