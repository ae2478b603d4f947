// Standing: where threads and pending asynchronous calls of the program stand, in groups. One walk of the stacks makes
// it for all who describe it later. Plain data.
#pragma once
#include "analysis/threads/async_calls.h"
#include "analysis/threads/thread_places.h"

#include <vector>

namespace dnheap {

struct Standing {
  std::vector<ThreadGroup> threads;
  std::vector<CallGroup> calls; // empty, too, if there are more calls than are worth the time
};

} // namespace dnheap
