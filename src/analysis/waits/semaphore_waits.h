// SemaphoreWaits: which SemaphoreSlim a task stands for: that of an asynchronous waiter, or of a call of the
// semaphore's own methods that waits for one, with a limit or until it is canceled. Some look-ups per task. One thread.
#pragma once
#include "analysis/threads/tasks.h"

namespace dnheap {

struct SemaphoreWait {
  Address semaphore = 0;  // 0: the task stands for none
  bool has_limit = false; // of time
};

class SemaphoreWaits {
public:
  // `by_node`: task of an asynchronous waiter → its semaphore. Both must outlive it.
  SemaphoreWaits(Tasks &tasks, const Runtime &runtime, const std::map<Address, Address> &by_node, const Watch &watch);

  // Of an asynchronous waiter's own task; 0: it is none.
  Address semaphore_of(TaskNumber task) const;
  // What the task, whoever's it is, awaits in the end.
  SemaphoreWait awaited_by(TaskNumber task) const;
  // The same of tasks that are for nothing else.
  SemaphoreWait stood_for_by(TaskNumber task) const;
  // The task that a method awaits; looked up once. no_task: it awaits something else.
  TaskNumber awaited_task(TaskNumber task) const;
  // Does a wait for that task end by itself, after some time?
  bool has_limit(TaskNumber task) const;
  // Of waits that can be canceled or have a limit.
  bool is_promise(TaskNumber task) const;
  // Which tasks each task that is no method waits for (Tasks::sources()).
  const TaskPairs &sources() const { return sources_; }
  // Of one that is no method, as objects: of calls their RuntimeAsyncTasks.
  std::vector<Address> sources_of(TaskNumber task) const;

private:
  bool is_of_wait(TaskNumber task) const;

  static constexpr TaskNumber not_looked_up = no_task - 1;

  const Tasks &tasks_;
  mutable FieldReader fields_;
  const std::map<Address, Address> &by_node_;
  TaskPairs sources_;
  mutable std::vector<TaskNumber> awaited_;
};

} // namespace dnheap
