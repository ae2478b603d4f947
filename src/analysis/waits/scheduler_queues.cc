#include "analysis/waits/scheduler_queues.h"

#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/waits/owner_fields.h"
#include "objects/references.h"

#include <algorithm>
#include <set>

namespace dnheap {

namespace {

constexpr u64 most_held = 1024; // references of a scheduler
constexpr const char *schedulers = "System.Threading.Tasks.TaskScheduler";
// The pool adds workers, so a task that it has queued begins in the end.
constexpr std::string_view scheduler_of_pool = "System.Threading.Tasks.ThreadPoolTaskScheduler",
                           scheduler_of_pair = "System.Threading.Tasks.ConcurrentExclusiveSchedulerPair+";

class QueuedTaskFinder {
public:
  QueuedTaskFinder(const Snapshot &snapshot, const LockSet &locks, const Tasks &tasks,
                   const std::vector<ThreadWait> &waits)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), locks_(locks), tasks_(tasks), waits_(waits),
        fields_(runtime_) {}

  std::map<TaskNumber, QueuedStep> find(const std::map<TaskNumber, u32> &running) {
    std::map<TaskNumber, QueuedStep> out;
    std::map<Address, std::set<u32>> threads_of;
    for (const auto &[task, thread] : running)
      if (const Address scheduler = scheduler_of(task))
        threads_of[scheduler].insert(thread);
    std::erase_if(threads_of, [&](const auto &one) { return !may_be_stuck(one.first, one.second); });
    erase_served(threads_of);
    for (TaskNumber task = 0; task < tasks_.count() && !threads_of.empty(); ++task)
      if (tasks_.status(task) == TaskStatus::waiting_to_run && !running.contains(task))
        if (auto of = threads_of.find(scheduler_of(task)); of != threads_of.end())
          out.emplace(task, QueuedStep{of->first, *of->second.begin()});
    return out;
  }

private:
  // Returns 0 for tasks of the pool.
  Address scheduler_of(TaskNumber task) {
    const Address scheduler = fields_.reference_or_null(tasks_.address(task), "m_taskScheduler");
    return scheduler && is_task_scheduler(runtime_, scheduler) && name_of(scheduler) != scheduler_of_pool ? scheduler
                                                                                                          : 0;
  }
  const std::string &name_of(Address object) { return runtime_.types().name(fields_.type_of(object)); }

  bool is_of_pair(Address scheduler) { return name_of(scheduler).starts_with(scheduler_of_pair); }

  bool may_be_stuck(Address scheduler, const std::set<u32> &threads) {
    const bool all_wait = std::ranges::all_of(threads, [&](u32 thread) {
      return std::ranges::any_of(waits_, [&](const ThreadWait &wait) {
        return wait.thread == thread && wait.kind == WaitKind::task && !wait.has_limit;
      });
    });
    if (!all_wait || !is_of_pair(scheduler))
      return all_wait;
    const std::optional<u32> at_a_time = fields_.number<u32>(scheduler, "m_maxConcurrencyLevel");
    return at_a_time && *at_a_time <= threads.size();
  }

  // Erases schedulers that other threads serve. Walks each stack once, as there may be a scheduler for each thread.
  void erase_served(std::map<Address, std::set<u32>> &threads_of) {
    std::map<Address, std::set<Address>> parts;
    for (const auto &[scheduler, threads] : threads_of)
      if (!is_of_pair(scheduler))
        parts.emplace(scheduler, parts_of(scheduler));
    for (u32 thread = 0; thread < locks_.threads.size() && !parts.empty(); ++thread) {
      if (locks_.threads[thread].os_id.value_or(0) == 0)
        continue;
      snapshot_.watch().check();
      const WalkedStack stack = runtime_.walk_stack(locks_.threads[thread]);
      std::erase_if(parts, [&](const auto &one) {
        const auto threads = threads_of.find(one.first);
        const bool is_served = !threads->second.contains(thread) && serves(stack, name_of(one.first), one.second);
        if (is_served)
          threads_of.erase(threads);
        return is_served;
      });
    }
  }

  // True if a thread stands in a method of the scheduler's type, or holds the scheduler or a part of it: it may run
  // what is queued.
  bool serves(const WalkedStack &stack, const std::string &scheduler, const std::set<Address> &parts) const {
    return std::ranges::any_of(stack.frames, [&](const StackFrame &frame) {
      return (frame.method_desc && type_of_member(runtime_.method_text(frame.method_desc).qualified) == scheduler) ||
             std::ranges::any_of(frame.references,
                                 [&](const StackReference &one) { return parts.contains(one.value); });
    });
  }

  // Returns the scheduler, and the objects in its fields, without its threads and strings.
  std::set<Address> parts_of(Address scheduler) {
    std::set<Address> out = {scheduler};
    ReferenceReader reader(snapshot_.references());
    OpenedObject opened;
    if (reader.open(scheduler, opened))
      reader.for_each(opened, [&](Address target) {
        if (out.size() < most_held && fields_.type_of(target) && name_of(target) != "System.Threading.Thread" &&
            name_of(target) != "System.String")
          out.insert(target);
      });
    return out;
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const LockSet &locks_;
  const Tasks &tasks_;
  const std::vector<ThreadWait> &waits_;
  FieldReader fields_;
};

} // namespace

std::map<TaskNumber, QueuedStep> find_queued_tasks(const Snapshot &snapshot, const LockSet &locks, const Tasks &tasks,
                                                   const std::vector<ThreadWait> &waits,
                                                   const std::map<TaskNumber, u32> &running) {
  return QueuedTaskFinder(snapshot, locks, tasks, waits).find(running);
}

bool is_task_scheduler(const Runtime &runtime, Address object) {
  const Address type = object ? method_table_of(runtime.memory(), object) : 0;
  return type && runtime.types().object_layout(type) && BaseTypes(runtime).derives(type, schedulers);
}

} // namespace dnheap
