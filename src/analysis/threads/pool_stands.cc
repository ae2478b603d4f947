#include "analysis/threads/pool_stands.h"

#include "base/text.h"
#include "runtime/facts/thread_details.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

// Results of waits_for() that do not mean "blocked".
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
    out += (out.empty() ? "" : ", ") + count_text(count) +
           (what != "sleep" ? " for " + what
            : count == 1    ? " sleeps"
                            : " sleep");
  return out;
}

bool PoolStands::is_starved() const {
  return workers && queued && !idle && (blocked * 2 >= workers || queued >= workers * 2);
}

std::string PoolStands::starved_text() const {
  std::string out = fmt::format("{}{} work item{} for a worker, and ", count_text(queued), is_queue_cut ? "+" : "",
                                queued == 1 ? " waits" : "s wait");
  if (!blocked)
    return out + "all " + count_text(workers) + " are at work";
  out += fmt::format("of {} worker{} {} {} blocked: {}", count_text(workers), workers == 1 ? "" : "s",
                     count_text(blocked), blocked == 1 ? "is" : "are", text());
  if (const u64 running = workers - blocked)
    out += fmt::format("; {} {} at work", count_text(running), running == 1 ? "is" : "are");
  return out;
}

PoolStands find_pool_stands(const Runtime &runtime, std::span<const ThreadData> threads,
                            std::span<const WaitText> waits) {
  PoolStands out;
  for (u64 i = 0; i < threads.size(); ++i) {
    if (threads[i].os_id.value_or(0) == 0 ||
        !(runtime.thread_details(threads[i]).state.value_or(0) & ThreadDetails::pool_worker))
      continue;
    const std::string &wait = waits[i].text;
    if (wait == gate_thread)
      continue;
    ++out.workers;
    if (wait == idle_worker)
      ++out.idle;
    else if (!wait.empty() && std::find(std::begin(no_blocks), std::end(no_blocks), wait) == std::end(no_blocks)) {
      ++out.blocked;
      ++out.waits[wait];
    }
  }
  return out;
}

} // namespace dnheap
