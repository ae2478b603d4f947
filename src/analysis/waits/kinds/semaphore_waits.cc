#include "analysis/waits/kinds/semaphore_waits.h"

#include <algorithm>

namespace dnheap {

SemaphoreWaits::SemaphoreWaits(Tasks &tasks, const Runtime &runtime, const std::map<Address, Address> &by_node,
                               const Watch &watch)
    : tasks_(tasks), fields_(runtime), by_node_(by_node), sources_(tasks.sources(watch)),
      awaited_(tasks.count(), not_looked_up) {}

Address SemaphoreWaits::semaphore_of(TaskNumber task) const {
  auto found = by_node_.find(tasks_.address(task));
  return found != by_node_.end() ? found->second : 0;
}

TaskNumber SemaphoreWaits::awaited_task(TaskNumber task) const {
  TaskNumber &found = awaited_[task];
  if (found == not_looked_up)
    found = tasks_.awaited_task(task);
  return found;
}

bool SemaphoreWaits::is_promise(TaskNumber task) const {
  return tasks_.type(task).name.starts_with("System.Threading.Tasks.Task+CancellationPromise");
}

bool SemaphoreWaits::has_limit(TaskNumber task) const {
  return is_promise(task) && fields_.reference_or_null(tasks_.address(task), "_timer") != 0;
}

std::vector<Address> SemaphoreWaits::sources_of(TaskNumber task) const {
  std::vector<Address> out;
  for (const auto &[waiting, source] : pairs_of(sources_, task)) {
    const TaskNumber whole = tasks_.task_of_call(source);
    out.push_back(tasks_.address(whole != no_task ? whole : source));
  }
  return out;
}

// True for calls of the semaphore's own methods, and for tasks that these await.
bool SemaphoreWaits::is_of_wait(TaskNumber task) const {
  const MachineShape *machine = tasks_.machine(task);
  return machine ? machine->method.starts_with("System.Threading.SemaphoreSlim.") || is_await_helper(machine->method)
                 : is_promise(task);
}

SemaphoreWait SemaphoreWaits::stood_for_by(TaskNumber task) const {
  task = tasks_.behind(tasks_.address(task)); // for a RuntimeAsyncTask, its outermost call
  return semaphore_of(task) || is_of_wait(task) ? awaited_by(task) : SemaphoreWait{};
}

SemaphoreWait SemaphoreWaits::awaited_by(TaskNumber task) const {
  constexpr u64 most_steps = 6;
  SemaphoreWait out;
  for (u64 i = 0; i < most_steps && task != no_task; ++i) {
    out.semaphore = semaphore_of(task);
    if (out.semaphore)
      return out;
    if (i && !is_of_wait(task))
      break;
    out.has_limit |= has_limit(task);
    const auto sources = pairs_of(sources_, task);
    task = tasks_.is_method(task) ? awaited_task(task) : sources.empty() ? no_task : sources.front().second;
  }
  return {};
}

} // namespace dnheap
