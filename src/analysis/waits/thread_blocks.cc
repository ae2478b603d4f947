#include "analysis/waits/thread_blocks.h"

#include "analysis/shapes/typed_objects.h"
#include "analysis/waits/kinds/condition_objects.h"
#include "analysis/waits/kinds/semaphore_waits.h"
#include "runtime/object_1.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr const char *words_of_handles = "a wait handle"; // a text of waits_for()
constexpr u64 frames_between = 4;                         // frames of awaiters between a wait for a task and its caller
constexpr std::string_view semaphore_waits = "System.Threading.SemaphoreSlim.Wait";

std::span<const StackFrame> innermost(const WalkedStack &stack, u64 frames) {
  return std::span(stack.frames).first(std::min<u64>(frames, stack.frames.size()));
}

} // namespace

ThreadBlocks::ThreadBlocks(const Snapshot &snapshot, std::span<const ThreadData> threads, Heap heap)
    : snapshot_(snapshot), runtime_(snapshot.runtime()), threads_(threads), bases_(runtime_), joins_(runtime_, threads),
      locks_(runtime_, numbers_), targets_(runtime_, threads) {
  numbers_.add(threads);
  if (heap == Heap::is_not_walked) {
    has_all_ = true;
    task_links_.emplace();
  }
  for (const auto &[object, thread] : targets_.subsystem().thread_objects())
    targets_.add(object);
  if (targets_.subsystem().is_known())
    add_condition_objects(runtime_, targets_);
  if (runtime_.kind() != std::string_view("coreclr"))
    return;
  const Monitors monitors(runtime_.memory(), runtime_.descriptor(), threads);
  problems_ = monitors.notes();
  for (const Monitor &monitor : monitors.monitors()) {
    const LockObject lock = locks_.read_monitor(monitor);
    monitor_owners_.emplace(monitor.object, lock.is_held ? lock.owner : std::nullopt);
    if (monitor.lock)
      targets_.add_monitor(monitor.lock, monitor.object);
  }
  for (const MonitorWait &wait : monitors.waits())
    monitor_waits_.emplace(wait.thread, wait);
}

bool ThreadBlocks::is_task(Address method_table) const {
  auto [known, is_new] = task_types_.try_emplace(method_table);
  if (is_new)
    known->second = bases_.derives(method_table, "System.Threading.Tasks.Task");
  return known->second;
}

// Returns the locks and tasks that the waiting methods hold, innermost first.
std::vector<ThreadBlocks::Candidate> ThreadBlocks::held_by(const WalkedStack &stack, u64 waiting) {
  std::vector<Candidate> out;
  for (const StackFrame &frame : innermost(stack, waiting))
    for (const StackReference &reference : frame.references) {
      const Address type = reference.interior ? 0 : method_table_of(runtime_.memory(), reference.value);
      if (!type || !runtime_.types().object_layout(type) ||
          std::any_of(out.begin(), out.end(), [&](const Candidate &c) { return c.object == reference.value; }))
        continue;
      if (const std::optional<LockKind> kind = locks_.kind_of(type)) {
        // A thread may also refer to a lock while it waits for something else: the timers' thread refers to a lock that
        // it has released.
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

ThreadBlocked ThreadBlocks::find(u32 index, const WalkedStack &stack, const WaitText &wait) {
  ThreadBlocked out = find_any(index, stack, wait);
  if (out.blocks.size() == 1)
    name_tasks(out);
  for (ThreadBlock &block : out.blocks)
    if (block.owner == index && block.kind == ThreadBlock::Kind::lock) // it waits for readers, to write
      block.owner.reset();
  return out;
}

ThreadBlocked ThreadBlocks::find_any(u32 index, const WalkedStack &stack, const WaitText &wait) {
  if (const std::optional<ManagedWait> managed = targets_.subsystem().wait_of(index))
    return wait.is_idle ? ThreadBlocked{} : find_managed(*managed, stack, wait);
  if (const std::optional<JoinWait> join = joins_.find(index, stack, wait))
    return {{{ThreadBlock::Kind::join, join->object, join->joined}}, false};
  std::optional<ThreadBlock> native = find_native(index, stack, wait.frames);
  if (!native && targets_.subsystem().is_known() && wait.text == words_of_handles)
    native = find_named_mutex(stack, wait.frames);
  if (!native && wait.text.empty())
    native = find_constructor(index, stack);
  return native ? ThreadBlocked{{*native}, false} : ThreadBlocked{};
}

std::optional<ThreadBlock> ThreadBlocks::find_constructor(u32 index, const WalkedStack &stack) {
  if (!may_wait_for_constructor(runtime_, stack))
    return std::nullopt;
  if (!constructor_waits_)
    constructor_waits_ = find_constructor_waits(runtime_, threads_);
  auto found = constructor_waits_->find(index);
  if (found == constructor_waits_->end())
    return std::nullopt;
  return ThreadBlock{ThreadBlock::Kind::static_constructor, found->second.type, found->second.runs_on};
}

// With .NET's own wait subsystem, threads wait natively for only one kind of handle, a named Mutex. The waiting methods
// hold the Mutex's object.
std::optional<ThreadBlock> ThreadBlocks::find_named_mutex(const WalkedStack &stack, u64 waiting) {
  if (!has_all_)
    add_all();
  WaitSubsystem &subsystem = targets_.subsystem();
  for (const StackFrame &frame : innermost(stack, waiting))
    for (const StackReference &reference : frame.references) {
      const Address object = reference.interior ? 0 : targets_.find(reference.value).object;
      const Address type = object ? method_table_of(runtime_.memory(), object) : 0;
      if (type && targets_.is_handle(type))
        if (const std::optional<WaitableObject> state = subsystem.read_named_mutex(subsystem.behind(object)))
          return ThreadBlock{ThreadBlock::Kind::handle, object, state->owner};
    }
  return std::nullopt;
}

// Looks first at the objects that the waiting methods hold, since add_all() walks the heap.
ThreadBlocked ThreadBlocks::find_managed(const ManagedWait &wait, const WalkedStack &stack, const WaitText &text) {
  auto find_all = [&] {
    std::vector<WaitTargets::Target> out;
    for (Address object : wait.objects)
      out.push_back(targets_.find(object));
    return out;
  };
  constexpr u64 frames_further = 2; // callers may hold objects that the waiting methods no longer hold
  add_held(stack, text.frames + frames_further);
  std::vector<WaitTargets::Target> targets = find_all();
  if (!has_all_ && !std::all_of(targets.begin(), targets.end(), [&](const WaitTargets::Target &target) {
        return targets_.is_what_words_say(target, text.text);
      })) {
    add_all();
    targets = find_all();
  }
  ThreadBlocked out;
  out.is_for_all = wait.is_for_all;
  for (const WaitTargets::Target &target : targets)
    out.blocks.push_back(block_on(target, stack, text.frames));
  return out;
}

void ThreadBlocks::add_held(const WalkedStack &stack, u64 waiting) {
  for (const StackFrame &frame : innermost(stack, waiting))
    for (const StackReference &reference : frame.references)
      if (!reference.interior)
        targets_.add(reference.value);
}

void ThreadBlocks::add_all() {
  has_all_ = true;
  for (const TypedObject &object : objects_that(snapshot_, [&](Address type) { return targets_.is_of_kind(type); }))
    targets_.add(object.address);
}

ThreadBlock ThreadBlocks::block_on(const WaitTargets::Target &target, const WalkedStack &stack, u64 waiting) {
  using enum ThreadBlock::Kind;
  if (const std::optional<u32> joined = targets_.subsystem().thread_of(target.object))
    return {join, target.object, joined};
  if (auto owner = monitor_owners_.find(target.object); owner != monitor_owners_.end())
    return target.is_for_pulse ? ThreadBlock{pulse, target.object, {}}
                               : ThreadBlock{monitor, target.object, owner->second};
  const Address type = method_table_of(runtime_.memory(), target.object);
  if (const std::optional<LockKind> kind = type ? locks_.kind_of(type) : std::nullopt) {
    if (kind == LockKind::event)
      if (const std::optional<ThreadBlock> task = task_behind(target.object, held_by(stack, waiting), stack, waiting))
        return *task;
    return {lock, target.object, locks_.read(target.object, *kind).owner};
  }
  const std::optional<WaitableObject> state = targets_.subsystem().read(target.way[0]);
  return {handle, target.object, state ? state->owner : std::nullopt};
}

// Returns the task whose end the event signals; for a semaphore's own tasks, the semaphore.
std::optional<ThreadBlock> ThreadBlocks::task_behind(Address event, const std::vector<Candidate> &held,
                                                     const WalkedStack &stack, u64 waiting) {
  auto inner = std::find_if(held.begin(), held.end(), [&](const Candidate &c) { return c.object == event; });
  auto task =
      std::find_if(inner == held.end() ? held.begin() : inner, held.end(), [](const Candidate &c) { return !c.kind; });
  if (task == held.end())
    return std::nullopt;
  for (const Candidate &further : held_by(stack, waiting + frames_between))
    if (further.kind == LockKind::semaphore) {
      const std::vector<Address> waiters = locks_.asynchronous_waiters(further.object);
      if (std::find(waiters.begin(), waiters.end(), task->object) != waiters.end())
        return block_on(further);
    }
  if (stands_in(stack, waiting + frames_between, semaphore_waits))
    if (const Address semaphore = semaphore_behind(task->object))
      return block_on({semaphore, LockKind::semaphore});
  return block_on(*task);
}

bool ThreadBlocks::stands_in(const WalkedStack &stack, u64 frames, std::string_view method) const {
  return std::ranges::any_of(innermost(stack, frames), [&](const StackFrame &frame) {
    return frame.method_desc && runtime_.method_text(frame.method_desc).qualified.starts_with(method);
  });
}

// If a thread waits behind asynchronous waiters, the semaphore's own method waits for a task. Nothing on the stack
// shows which semaphore the task belongs to.
Address ThreadBlocks::semaphore_behind(Address task) {
  const TaskLinks &links = task_links();
  auto found = links.semaphores.find(task);
  return found != links.semaphores.end() ? found->second : 0;
}

// A wait for several tasks has an object of its own, which does not name the tasks.
void ThreadBlocks::name_tasks(ThreadBlocked &blocked) {
  const ThreadBlock &block = blocked.blocks[0];
  const bool may_be = block.kind == ThreadBlock::Kind::task || block.kind == ThreadBlock::Kind::lock;
  const Address type = may_be ? method_table_of(runtime_.memory(), block.object) : 0;
  if (!type || !runtime_.types().object_layout(type))
    return;
  const std::string &name = runtime_.types().name(type);
  const bool is_for_all = name == event_of_all;
  if (!is_for_all && !name.starts_with(promise_of_any))
    return;
  const TaskLinks &links = task_links();
  auto found = links.behind.find(block.object);
  if (found == links.behind.end())
    return;
  blocked = {{}, is_for_all};
  for (Address task : found->second)
    blocked.blocks.push_back({ThreadBlock::Kind::task, task, {}});
}

const ThreadBlocks::TaskLinks &ThreadBlocks::task_links() {
  constexpr u64 most_of_one = 1024; // continuations of one task
  if (task_links_)
    return *task_links_;
  task_links_.emplace();
  Tasks tasks(snapshot_);
  std::map<Address, Address> by_node;
  for (const TypedObject &object :
       objects_that(snapshot_, [&](Address type) { return locks_.kind_of(type) == LockKind::semaphore; }))
    for (Address node : locks_.asynchronous_waiters(object.address))
      by_node.emplace(node, object.address);
  const SemaphoreWaits waits(tasks, runtime_, by_node, snapshot_.watch());
  for (TaskNumber task = 0; task < tasks.count(); ++task) {
    if (!tasks.is_pending(task) || tasks.type(task).is_suspended_call)
      continue;
    if (const Address semaphore = waits.stood_for_by(task).semaphore)
      task_links_->semaphores.emplace(tasks.address(task), semaphore);
    if (tasks.type(task).name.starts_with(promise_of_any))
      task_links_->behind[tasks.address(task)] = waits.sources_of(task);
    for (const Continuation &next : tasks.continuations(task, most_of_one))
      if (next.kind == ContinuationKind::thread)
        task_links_->behind[next.object].push_back(tasks.address(task));
  }
  return *task_links_;
}

std::optional<ThreadBlock> ThreadBlocks::find_native(u32 index, const WalkedStack &stack, u64 waiting) {
  const std::vector<Candidate> held = held_by(stack, waiting);
  auto wait = monitor_waits_.find(index);
  if (wait == monitor_waits_.end()) {
    // Takes the outermost of several: a wait for a task uses an event, for example.
    return held.empty() ? std::nullopt : std::optional(block_on(held.back()));
  }
  const MonitorWait &monitor = wait->second;
  if (!monitor.is_for_pulse) {
    auto owner = monitor_owners_.find(monitor.object);
    return ThreadBlock{ThreadBlock::Kind::monitor, monitor.object,
                       owner != monitor_owners_.end() ? owner->second : std::nullopt};
  }
  // A wait for a semaphore or an event is a wait for a pulse. A wait for a task uses an event of its own. A wait for a
  // semaphore that has asynchronous waiters, too, is a wait for a task.
  auto inner = std::find_if(held.begin(), held.end(), [&](const Candidate &c) { return is_inside(monitor.object, c); });
  if (inner == held.end())
    return ThreadBlock{ThreadBlock::Kind::pulse, monitor.object, {}};
  if (const std::optional<ThreadBlock> task = task_behind(inner->object, held, stack, waiting))
    return task;
  auto outer = std::find_if(inner, held.end(), [&](const Candidate &c) { return is_inside(inner->object, c); });
  return block_on(outer != held.end() ? *outer : *inner);
}

bool ThreadBlocks::is_inside(Address object, const Candidate &of) {
  if (!of.kind)
    return false;
  const std::vector<Address> inner = locks_.inner_of(of.object, *of.kind);
  return std::find(inner.begin(), inner.end(), object) != inner.end();
}

void foresee_blocks(Plan &plan) { plan.perhaps(Pass::references).perhaps("walk").perhaps("tasks"); }

} // namespace dnheap
