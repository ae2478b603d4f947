// SemaphoreWaits: the SemaphoreSlim for which a task stands. The task is an asynchronous waiter, or a call of the
// semaphore's own methods that waits for one, with a limit or until it is canceled. Some look-ups per task. Not for
// several threads at once.
#pragma once
#include "analysis/threads/tasks.h"

namespace dnheap {

struct SemaphoreWait {
  Address semaphore = 0;  // 0: the task stands for none
  bool has_limit = false; // it ends after some time
};

class SemaphoreWaits {
public:
  // `by_node`: task of an asynchronous waiter → its semaphore. `tasks` and `by_node` must outlive this object.
  SemaphoreWaits(Tasks &tasks, const Runtime &runtime, const std::map<Address, Address> &by_node, const Watch &watch);

  // Returns the semaphore of an asynchronous waiter's own task; 0: the task is not an asynchronous waiter's.
  Address semaphore_of(TaskNumber task) const;
  // Returns the semaphore that any task awaits in the end.
  SemaphoreWait awaited_by(TaskNumber task) const;
  // Returns the same, but only for tasks that serve no other purpose.
  SemaphoreWait stood_for_by(TaskNumber task) const;
  // Returns the task that a method awaits; looks it up once. no_task: it awaits something else.
  TaskNumber awaited_task(TaskNumber task) const;
  // True if a wait for that task ends after some time in any case.
  bool has_limit(TaskNumber task) const;
  // True if the task belongs to a wait that can be canceled or has a limit.
  bool is_promise(TaskNumber task) const;
  // Returns Tasks::sources(): which tasks each task that is not a method waits for.
  const TaskPairs &sources() const { return sources_; }
  // Returns the objects of the tasks for which a task waits that is not a method: for a suspended call its
  // RuntimeAsyncTask.
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
