#include "analysis/waits/crowds.h"

#include "analysis/names/type_called.h"
#include "analysis/waits/waits_of_threads.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_steps = 64; // steps from a method to what it awaits in the end

class CrowdFinder {
public:
  CrowdFinder(const LockSet &locks, Tasks &tasks, const SemaphoreWaits &semaphore_waits,
              const std::vector<ThreadWait> &waits, const SemaphoreHolders &holders, bool has_il)
      : locks_(locks), tasks_(tasks), semaphore_waits_(semaphore_waits), holders_(holders), waits_of_(waits),
        has_il_(has_il) {}

  void count() {
    for (const auto &[semaphore, holders] : holders_.semaphores())
      if (const LockObject *lock = locks_.find(semaphore); lock && !locks_.collections.contains(semaphore)) {
        Crowd &crowd = crowds_[semaphore];
        crowd.semaphore = semaphore;
        for (u32 thread : lock->waiting)
          crowd.threads += !thread_has_limit(thread);
      }
    for (const auto &[node, semaphore] : locks_.by_node)
      if (auto crowd = crowds_.find(semaphore); crowd != crowds_.end())
        crowd->second.calls += !waiter_has_limit(tasks_.find(node));
  }

  std::vector<Crowd> find(const std::map<Address, std::vector<SemaphoreHolder>> &may_have_taken) {
    count();
    std::vector<Crowd> out;
    for (auto &[semaphore, crowd] : crowds_) {
      if (!crowd.size() || !is_lock(semaphore))
        continue;
      auto takers = may_have_taken.find(semaphore);
      const std::vector<SemaphoreHolder> none;
      bool anybody_has_it = false, anybody_goes_on = false;
      for (const SemaphoreHolder &one : takers != may_have_taken.end() ? takers->second : none) {
        if (one.is_doubtful() || one.grounds == Grounds::stack || one.grounds == Grounds::static_field)
          continue;
        anybody_has_it = true;
        anybody_goes_on |= one.thread ? goes_on(*one.thread) : goes_on_task(one.task);
        if (one.is_sure())
          crowd.holders.push_back(one);
      }
      const bool is_stuck = !anybody_goes_on && crowd.size() >= least_of(semaphore, anybody_has_it) &&
                            !holders_.has_runners(semaphore, [&](u32 thread) { return goes_on(thread); });
      if (is_stuck || is_contended_by_threads(crowd))
        out.push_back(std::move(crowd));
    }
    std::stable_sort(out.begin(), out.end(), [](const Crowd &a, const Crowd &b) { return a.size() > b.size(); });
    return out;
  }

private:
  bool has_one_permit(Address semaphore) const {
    const LockObject *lock = locks_.find(semaphore);
    return lock && lock->permits == 1;
  }
  // True if the methods that wait also release the semaphore. If that is unknown, true for a semaphore with a limit of
  // one permit: a signal with this limit would be for one waiter only.
  bool is_lock(Address semaphore) const {
    return holders_.is_given_back(semaphore).value_or(has_one_permit(semaphore) || !has_il_);
  }
  u64 least_of(Address semaphore, bool anybody_has_it) const {
    if (anybody_has_it || (!has_il_ && !has_one_permit(semaphore)))
      return least_crowd;
    if (holders_.failed_calls(semaphore))
      return 1;
    return has_one_permit(semaphore) && holders_.is_given_back(semaphore) == true ? least_before_one : least_crowd;
  }
  // True if threads queue as they would before a lock, for a semaphore that one thread has and only one can have.
  bool is_contended_by_threads(const Crowd &crowd) const {
    return !crowd.calls && crowd.threads >= least_before_one && has_one_permit(crowd.semaphore) &&
           crowd.holders.size() == 1 && crowd.holders.front().thread;
  }
  bool thread_has_limit(u32 thread) const {
    const ThreadWait *wait = waits_of_.first_of(thread);
    return !wait || wait->has_limit;
  }
  // True if the wait of an asynchronous waiter ends after some time, as its continuations show; or if the waiter is
  // unknown.
  bool waiter_has_limit(TaskNumber node) {
    if (node == no_task)
      return true;
    for (const Continuation &next : tasks_.continuations(node, 4))
      if (const TaskNumber task = tasks_.find(next.object); task != no_task && semaphore_waits_.has_limit(task))
        return true;
    return false;
  }

  bool goes_on(u32 thread) {
    const std::span<const ThreadWait *const> waits = waits_of_.of(thread);
    return waits.empty() || std::ranges::any_of(waits, [&](const ThreadWait *wait) {
             return wait->has_limit || (wait->kind == WaitKind::task && goes_on_task(tasks_.behind(wait->object)));
           });
  }

  // True unless the task waits in the end for a semaphore without a time limit, or for a task that the program itself
  // completes.
  bool goes_on_task(TaskNumber task) {
    for (u64 i = 0; i < most_steps && task != no_task; ++i) {
      if (!tasks_.is_pending(task))
        return true;
      if (semaphore_waits_.awaited_by(task).semaphore)
        return semaphore_waits_.awaited_by(task).has_limit;
      if (!tasks_.is_method(task))
        return !is_completed_by_program(task);
      if (tasks_.state(task) == -1)
        return true;
      task = semaphore_waits_.awaited_task(task);
    }
    return true;
  }

  // True for a task like that of a TaskCompletionSource: it runs no code, and no part of the library completes it.
  bool is_completed_by_program(TaskNumber task) {
    const std::string &type = tasks_.type(task).name;
    return is_type_called(type, "System.Threading.Tasks.Task") && tasks_.delegate_method(task).empty();
  }

  const LockSet &locks_;
  Tasks &tasks_;
  const SemaphoreWaits &semaphore_waits_;
  const SemaphoreHolders &holders_;
  const WaitsOfThreads waits_of_;
  const bool has_il_;
  std::map<Address, Crowd> crowds_;
};

} // namespace

std::vector<Crowd> find_crowds(const LockSet &locks, Tasks &tasks, const SemaphoreWaits &semaphore_waits,
                               const std::vector<ThreadWait> &waits, const SemaphoreHolders &holders,
                               const std::map<Address, std::vector<SemaphoreHolder>> &may_have_taken, bool has_il) {
  return CrowdFinder(locks, tasks, semaphore_waits, waits, holders, has_il).find(may_have_taken);
}

} // namespace dnheap
