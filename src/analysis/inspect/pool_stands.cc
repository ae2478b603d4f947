#include "analysis/inspect/pool_stands.h"

#include "analysis/thread_text.h"
#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

// Of waits_for(): these workers do their work, or have none.
constexpr const char *no_blocks[] = {"sockets", "a file", "the console", "the next timer"};
constexpr const char *idle_worker = "work (idle pool worker)", *gate_thread = "the pool's timer";

} // namespace

std::string PoolStands::text() const {
  std::vector<std::pair<u64, std::string>> sorted;
  for (const auto &[what, count] : waits)
    sorted.emplace_back(count, what);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
  std::string out;
  for (const auto &[count, what] : sorted)
    out += (out.empty() ? "" : ", ") + count_text(count) + " for " + what;
  return out;
}

PoolStands find_pool_stands(Snapshot &snapshot) {
  const Runtime &runtime = snapshot.runtime();
  std::vector<std::string> problems; // said where threads are listed
  PoolStands out;
  for (const ThreadData &thread : runtime.threads(problems)) {
    snapshot.watch().check();
    if (thread.os_id.value_or(0) == 0 ||
        !(runtime.thread_details(thread).state.value_or(0) & ThreadDetails::pool_worker))
      continue;
    const WaitText wait = waits_for(runtime, runtime.walk_stack(thread));
    if (wait.text == gate_thread)
      continue;
    ++out.workers;
    if (wait.text == idle_worker)
      ++out.idle;
    else if (!wait.text.empty() &&
             std::find(std::begin(no_blocks), std::end(no_blocks), wait.text) == std::end(no_blocks)) {
      ++out.blocked;
      ++out.waits[wait.text];
    }
  }
  return out;
}

} // namespace dnheap
