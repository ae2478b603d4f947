// Hangs: whether the program hangs, in figures and words for the verdict: deadlocks, or a thread pool whose workers are
// all blocked while work waits for them. Walks the stacks of all threads once. Looks at locks and tasks only if a
// thread waits for one or for a Mutex, if a semaphore has asynchronous waiters (but not if there are more than
// 500,000), or if up to 10,000 asynchronous calls are pending. Looks at the pool's queues only if no worker is idle, or
// for `standing`.
// Not for several threads at once.
#pragma once
#include "analysis/threads/standing.h"
#include "analysis/verdict/verdict.h"
#include "base/notes.h"
#include "snapshot/snapshot.h"
#include "snapshot/source_lines.h"

namespace dnheap {

// `standing`: is filled with what threads and pending calls do (up to 500,000 calls, and native frames of at most 64
// threads); null: nobody asks.
HangFacts find_hangs(const Snapshot &snapshot, SourceLines &lines, Standing *standing = nullptr);

// Returns only what threads do, from their stacks: for a dump without heap.
Standing find_standing_threads(const Snapshot &snapshot, SourceLines &lines);

// Returns only the place of the thread that runs a finalizer: "waits for an event in Shop.Handle.Finalize"; empty: no
// finalizer runs. Adds to `problems` which parts of threads could not be read.
std::string find_finalizer_place(const Snapshot &snapshot, Notes &problems);

} // namespace dnheap
