// SchedulerQueues: tasks that have not begun, and that a TaskScheduler of the program (or a
// ConcurrentExclusiveSchedulerPair) is to run, while every thread that runs work of that scheduler waits for a task. Of
// a scheduler pair the number of tasks at a time is a field; elsewhere no other thread may stand in a method of the
// scheduler, or hold it. Reads a few fields of running tasks, and all stacks if one of these has such a scheduler. Not
// for several threads at once.
#pragma once
#include "analysis/waits/context_queues.h"

namespace dnheap {

// Returns the tasks, each with its scheduler and a thread that runs work of it. `running`: tasks that threads run.
std::map<TaskNumber, QueuedStep> find_queued_tasks(const Snapshot &snapshot, const LockSet &locks, const Tasks &tasks,
                                                   const std::vector<ThreadWait> &waits,
                                                   const std::map<TaskNumber, u32> &running);

// True if the object is a TaskScheduler.
bool is_task_scheduler(const Runtime &runtime, Address object);

} // namespace dnheap
