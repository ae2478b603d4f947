#include "analysis/waits/context_queues.h"

#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "objects/references.h"
#include "runtime/facts/thread_details.h"

#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 most_behind_a_context = 10000; // objects
// This type itself queues on the thread pool.
constexpr const char *context_of_pool = "System.Threading.SynchronizationContext";

class QueuedStepFinder {
public:
  QueuedStepFinder(const Snapshot &snapshot, const LockSet &locks, const Tasks &tasks)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), locks_(locks), tasks_(tasks), bases_(runtime_),
        fields_(runtime_) {}

  std::map<TaskNumber, QueuedStep> find(const std::vector<ThreadWait> &waits) {
    std::map<Address, std::set<u32>> threads_of;
    for (u32 thread = 0; thread < locks_.threads.size(); ++thread)
      if (const Address context = context_of(thread))
        threads_of[context].insert(thread);
    for (const ThreadWait &wait : waits)
      for (const auto &[context, threads] : threads_of)
        if (wait.kind == WaitKind::task && threads == std::set{wait.thread})
          follow(context, wait.thread);
    return std::move(out_);
  }

private:
  Address context_of(u32 thread) {
    if (locks_.threads[thread].os_id.value_or(0) == 0)
      return 0;
    const Address object = runtime_.thread_details(locks_.threads[thread]).object;
    const Address context = fields_.reference_or_null(object, "_synchronizationContext"), type = type_of(context);
    return type && runtime_.types().name(type) != context_of_pool && bases_.derives(type, context_of_pool) ? context
                                                                                                           : 0;
  }

  // Returns 0 if no object of a known type lies there.
  Address type_of(Address object) const {
    const Address type = fields_.type_of(object);
    return type && runtime_.types().object_layout(type) ? type : 0;
  }

  // True if the method neither runs nor awaits anything that is not done.
  bool awaits_nothing(TaskNumber task) const {
    if (!tasks_.is_pending(task) || !tasks_.type(task).is_box || tasks_.state(task).value_or(-1) < 0)
      return false;
    const Address awaited = tasks_.awaited(task);
    const TaskNumber other = awaited ? tasks_.find(awaited) : no_task;
    return !awaited || (other != no_task && !tasks_.is_pending(other));
  }

  // Tasks, threads and what delegates refer to are no part of a queue.
  void follow(Address context, u32 thread) {
    ReferenceReader reader(snapshot_.references());
    std::unordered_set<Address> met = {context};
    std::vector<Address> next = {context};
    for (u64 i = 0; i < next.size(); ++i) {
      const Address object = next[i], type = type_of(object);
      OpenedObject opened;
      if (i && tasks_.find(object) != no_task)
        add_call(object, context, thread);
      if (!type || tasks_.find(object) != no_task || bases_.derives(type, "System.Threading.Thread"))
        continue;
      if (bases_.derives(type, "System.Delegate"))
        add_step(fields_.reference_or_null(object, "_target"), context, thread);
      else if (reader.open(object, opened))
        reader.for_each(opened, [&](Address target) {
          if (next.size() < most_behind_a_context && met.insert(target).second)
            next.push_back(target);
        });
    }
  }

  // A runtime-async method queues its task, and the innermost of its calls knows that it was handed to a context.
  void add_call(Address task, Address context, u32 thread) {
    constexpr u64 most_calls = 64; // one within the other
    TaskNumber call = tasks_.behind(task);
    for (u64 i = 0; i < most_calls && call != no_task && tasks_.type(call).is_suspended_call; ++i) {
      if (tasks_.is_in_context(call) && tasks_.is_pending(call)) {
        out_.try_emplace(call, QueuedStep{context, thread});
        return;
      }
      call = tasks_.awaited_task(call);
    }
  }

  void add_step(Address target, Address context, u32 thread) {
    const TaskNumber task = target ? tasks_.find(target) : no_task;
    if (task != no_task && awaits_nothing(task))
      out_.try_emplace(task, QueuedStep{context, thread});
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const LockSet &locks_;
  const Tasks &tasks_;
  const BaseTypes bases_;
  FieldReader fields_;
  std::map<TaskNumber, QueuedStep> out_;
};

} // namespace

std::map<TaskNumber, QueuedStep> find_queued_steps(const Snapshot &snapshot, const LockSet &locks, const Tasks &tasks,
                                                   const std::vector<ThreadWait> &waits) {
  return QueuedStepFinder(snapshot, locks, tasks).find(waits);
}

} // namespace dnheap
