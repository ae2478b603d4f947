#include "analysis/waits/lock_chains.h"

#include "analysis/threads/thread_objects.h"

#include <algorithm>

namespace dnheap {

LockChains::LockChains(const Runtime &runtime, const LockSet &locks, const ThreadWaits &waits)
    : locks_(locks), waits_(waits), waits_of_(waits.waits), thread_objects_(threads_by_object(runtime, locks.threads)) {
}

const ThreadWait *LockChains::wait_of(u32 thread) const {
  const std::span<const ThreadWait *const> waits = waits_of_.of(thread);
  return waits.size() == 1 ? waits.front() : nullptr;
}

std::optional<u32> LockChains::next_of(const ThreadWait &wait) const {
  if (wait.runs_on)
    return wait.runs_on;
  if (wait.kind == WaitKind::join) {
    auto joined = thread_objects_.find(wait.object);
    return joined != thread_objects_.end() ? std::optional(joined->second) : std::nullopt;
  }
  if (wait.kind == WaitKind::semaphore) {
    auto taken = waits_.may_have_taken.find(wait.object);
    const bool is_one = taken != waits_.may_have_taken.end() && taken->second.size() == 1 &&
                        taken->second.front().is_sure() && taken->second.front().thread;
    return is_one ? taken->second.front().thread : std::nullopt;
  }
  const bool has_owner = wait.kind == WaitKind::lock || wait.kind == WaitKind::mutex;
  const LockObject *lock = has_owner ? locks_.find(wait.object) : nullptr;
  if (!lock)
    return std::nullopt;
  if (lock->owner)
    return lock->owner;
  return lock->readers.size() == 1 ? std::optional(lock->readers.front()) : std::nullopt;
}

std::vector<LockChains::Link> LockChains::from(u32 thread) const {
  std::vector<Link> out;
  std::set<u32> seen;
  for (std::optional<u32> at = thread; at && *at < locks_.threads.size();) {
    if (!seen.insert(*at).second)
      return {};
    out.push_back({*at, nullptr});
    const ThreadWait *wait = locks_.has_ended(*at) ? nullptr : wait_of(*at);
    at = wait ? next_of(*wait) : std::nullopt;
    if (at)
      out.back().wait = wait;
  }
  return out;
}

std::vector<LockChains::Link> LockChains::longest() const {
  std::vector<Link> out;
  for (const ThreadWait &wait : waits_.waits) {
    std::vector<Link> one = from(wait.thread);
    const bool has_limit = std::ranges::any_of(one, [](const Link &link) { return link.wait && link.wait->has_limit; });
    if (!has_limit && one.size() > 1 && one.size() > out.size())
      out = std::move(one);
  }
  return out;
}

std::string link_in_words(WaitKind kind, const std::string &thread) {
  switch (kind) {
  case WaitKind::join: return "that is thread " + thread;
  case WaitKind::static_constructor: return "thread " + thread + " runs that constructor";
  case WaitKind::finalizers: return "thread " + thread + " runs these";
  case WaitKind::callback:
  case WaitKind::wait_handle:
  case WaitKind::event: return "thread " + thread + " runs that callback";
  case WaitKind::semaphore: return "thread " + thread + " probably has it";
  case WaitKind::mutex: return "thread " + thread + " has that Mutex";
  default: return "thread " + thread + " has that lock";
  }
}

} // namespace dnheap
