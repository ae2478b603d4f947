// Names the native functions that threads of the program are in, where a method of the program called a library that
// belongs neither to the runtime nor to the system. Follows the native frames of at most 64 threads. Not for several
// threads at once.
#pragma once
#include "analysis/threads/thread_places.h"
#include "snapshot/snapshot.h"

#include <span>
#include <vector>

namespace dnheap {

// Sets `calls` of groups that are in native code to "libimaging.so!img_lock"; a group whose threads are in several
// functions becomes several groups. `threads`: the list that the groups' indices are of.
void name_native_places(const Snapshot &snapshot, std::span<const ThreadData> threads,
                        std::vector<ThreadGroup> &groups);

} // namespace dnheap
