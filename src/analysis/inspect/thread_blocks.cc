#include "analysis/inspect/thread_blocks.h"

#include "runtime/object_1.h"

#include <algorithm>

namespace dnheap {

ThreadBlocks::ThreadBlocks(const Runtime &runtime, std::span<const ThreadData> threads)
    : runtime_(runtime), bases_(runtime), locks_(runtime, numbers_) {
  numbers_.add(threads);
  if (runtime.kind() != std::string_view("coreclr"))
    return;
  const Monitors monitors(runtime.memory(), runtime.descriptor(), threads);
  for (const Monitor &monitor : monitors.monitors())
    if (monitor.is_held)
      monitor_owners_.emplace(monitor.object, monitor.owner);
  for (const MonitorWait &wait : monitors.waits())
    monitor_waits_.emplace(wait.thread, wait);
}

bool ThreadBlocks::is_task(Address method_table) const {
  auto [known, is_new] = task_types_.try_emplace(method_table);
  if (is_new)
    known->second = bases_.derives(method_table, "System.Threading.Tasks.Task");
  return known->second;
}

// Locks and tasks among what the waiting methods hold, innermost first.
std::vector<ThreadBlocks::Candidate> ThreadBlocks::held_by(const WalkedStack &stack, u64 waiting) {
  std::vector<Candidate> out;
  for (const StackFrame &frame : std::span(stack.frames).first(std::min<u64>(waiting, stack.frames.size())))
    for (const StackReference &reference : frame.references) {
      const Address type = reference.interior ? 0 : method_table_of(runtime_.memory(), reference.value);
      if (!type || !runtime_.types().object_layout(type) ||
          std::any_of(out.begin(), out.end(), [&](const Candidate &c) { return c.object == reference.value; }))
        continue;
      if (const std::optional<LockKind> kind = locks_.kind_of(type)) {
        // Who waits for something else may hold a lock, too: the timers' thread has let go of one.
        if (locks_.read(reference.value, *kind).waiters)
          out.push_back({reference.value, kind});
      } else if (is_task(type))
        out.push_back({reference.value, {}});
    }
  return out;
}

ThreadBlock ThreadBlocks::block_on(const Candidate &candidate) {
  if (!candidate.kind)
    return {ThreadBlock::Kind::task, candidate.object, {}};
  return {ThreadBlock::Kind::lock, candidate.object, locks_.read(candidate.object, *candidate.kind).owner};
}

std::optional<ThreadBlock> ThreadBlocks::find(u32 index, const WalkedStack &stack, u64 waiting) {
  const std::vector<Candidate> held = held_by(stack, waiting);
  auto wait = monitor_waits_.find(index);
  if (wait == monitor_waits_.end()) {
    // Of several the outermost: who waits for a task does so by an event, say.
    return held.empty() ? std::nullopt : std::optional(block_on(held.back()));
  }
  const MonitorWait &monitor = wait->second;
  if (!monitor.is_for_pulse) {
    auto owner = monitor_owners_.find(monitor.object);
    return ThreadBlock{ThreadBlock::Kind::monitor, monitor.object,
                       owner != monitor_owners_.end() ? owner->second : std::nullopt};
  }
  // Who waits for a semaphore or an event waits to be pulsed; for a task by an event of its own; for a semaphore that
  // asynchronous ones wait for, too, for a task.
  auto inner = std::find_if(held.begin(), held.end(), [&](const Candidate &c) {
    return c.kind && locks_.inner_of(c.object, *c.kind) == monitor.object;
  });
  if (inner == held.end())
    return ThreadBlock{ThreadBlock::Kind::pulse, monitor.object, {}};
  auto task = std::find_if(inner, held.end(), [](const Candidate &c) { return !c.kind; });
  if (task == held.end())
    return block_on(*inner);
  constexpr u64 frames_between = 4; // of awaiters
  for (const Candidate &further : held_by(stack, waiting + frames_between))
    if (further.kind == LockKind::semaphore) {
      const std::vector<Address> waiters = locks_.asynchronous_waiters(further.object);
      if (std::find(waiters.begin(), waiters.end(), task->object) != waiters.end())
        return block_on(further);
    }
  return block_on(*task);
}

} // namespace dnheap
