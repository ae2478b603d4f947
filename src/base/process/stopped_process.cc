// The part of StoppedProcess that all systems share: how often threads are listed, and when to give up.
#include "base/error.h"
#include "base/process/process.h"

#include <algorithm>

namespace dnheap {

StoppedProcess::StoppedProcess(u64 pid, bool (*give_up)(const void *), const void *context)
    : pid_(pid), since_(Clock::now()) {
  constexpr auto longest_stop = std::chrono::seconds(5);
  begin_stop();
  try {
    stop_all({give_up, context, since_ + longest_stop});
  } catch (...) {
    release();
    throw;
  }
}

StoppedProcess::~StoppedProcess() { release(); }

void StoppedProcess::Patience::check(const std::string &too_late) const {
  if (give_up && give_up(context))
    throw Interrupted();
  if (Clock::now() > last)
    throw Error(too_late + "; try again, or read with --no-pause");
}

// Running threads start others, so repeat until the list shows only stopped ones.
void StoppedProcess::stop_all(const Patience &patience) {
  for (bool found = true; found;) {
    found = false;
    const std::vector<u64> ids = list_threads(pid_);
    if (ids.empty())
      fail_without_threads();
    for (u64 id : ids) {
      patience.check("the threads of process " + std::to_string(pid_) +
                     " cannot be stopped: it starts new ones all the time");
      if (std::ranges::none_of(threads_, [&](const Thread &thread) { return thread.id == id; }))
        found |= stop_thread(id);
    }
    wait_for_all(patience);
  }
  if (threads_.empty())
    fail_without_threads();
}

} // namespace dnheap
