#include "analysis/inspect/handle_waits.h"
#include "analysis/inspect/wait_graph.h"
#include "objects/roots.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 largest_stack = 64 << 20; // of a stack that is looked through
constexpr u32 kind_of_lock = 2;         // System.Threading.ThreadBlockingInfo+ObjectKind.Lock
constexpr const char *counts_of_readers = "System.Threading.ReaderWriterLockSlim.t_rwc";
constexpr const char *methods_of_reader_writer = "System.Threading.ReaderWriterLockSlim.";
constexpr const char *current_task = "System.Threading.Tasks.Task.t_currentTask";

class WaitFinder {
public:
  WaitFinder(Snapshot &snapshot, LockSet &locks, Tasks &tasks)
      : snapshot_(snapshot), memory_(snapshot.runtime().memory()), locks_(locks), tasks_(tasks) {}

  ThreadWaits find() {
    find_tasks_of_events();
    for (const MonitorWait &wait : locks_.monitor_waits)
      add_monitor_wait(wait);
    add_lock_waits();
    if (needs_stacks())
      add_stack_waits();
    for (const SuspendedCalls::Running &one : tasks_.running())
      if (const std::optional<u32> thread = locks_.thread_with_os_id(one.thread))
        if (const TaskNumber task = tasks_.find(one.task); task != no_task)
          running_.by_own_method[task] = *thread;
    for (const HandleWait &wait : find_handle_waits(snapshot_, locks_.threads))
      add_handle_wait(wait);
    std::sort(locks_.locks.begin(), locks_.locks.end(), [](const LockObject &a, const LockObject &b) {
      return std::tie(a.object, a.kind) < std::tie(b.object, b.kind);
    });
    std::sort(out_.waits.begin(), out_.waits.end(),
              [](const ThreadWait &a, const ThreadWait &b) { return a.thread < b.thread; });
    for (const ThreadWait &wait : out_.waits)
      if (LockObject *lock = locks_.find(wait.object))
        lock->waiting.push_back(wait.thread);
    WaitGraph graph(snapshot_, locks_, tasks_, out_.waits, running_);
    out_.circles = graph.circles();
    out_.may_have_taken = graph.may_have_taken();
    return std::move(out_);
  }

private:
  // A thread that calls Task.Wait waits for an event that the task sets when it is done.
  void find_tasks_of_events() {
    for (TaskNumber task = 0; task < tasks_.count(); ++task)
      if (tasks_.is_pending(task))
        for (const Continuation &next : tasks_.continuations(task, 1024))
          if (next.kind == ContinuationKind::thread)
            task_of_event_.emplace(next.object, task);
  }

  void add(u32 thread, WaitKind kind, Address object, bool by_stack = false, bool has_limit = false) {
    if (waits_.try_emplace(thread, out_.waits.size()).second)
      out_.waits.push_back({thread, kind, object, by_stack, has_limit});
  }

  void add_monitor_wait(const MonitorWait &wait) {
    auto add = [&](u32 thread, WaitKind kind, Address object) {
      this->add(thread, kind, object, false, wait.has_limit);
    };
    if (!wait.is_for_pulse)
      return add(wait.thread, WaitKind::lock, wait.object);
    auto inner = locks_.by_inner.find(wait.object);
    if (inner == locks_.by_inner.end())
      return add(wait.thread, WaitKind::pulse, wait.object);
    if (auto task = task_of_event_.find(inner->second); task != task_of_event_.end()) {
      const Address object = tasks_.address(task->second);
      auto semaphore = locks_.by_node.find(object);
      return semaphore != locks_.by_node.end() ? add(wait.thread, WaitKind::semaphore, semaphore->second)
                                               : add(wait.thread, WaitKind::task, object);
    }
    const LockObject *lock = locks_.find(inner->second);
    add(wait.thread, lock && lock->kind == LockKind::semaphore ? WaitKind::semaphore : WaitKind::event, inner->second);
  }

  // Who has a Mutex the operating system knows: whoever waits for it tells that somebody has.
  void add_handle_wait(const HandleWait &wait) {
    add(wait.thread, wait.is_mutex ? WaitKind::mutex : WaitKind::wait_handle, wait.object);
    if (!wait.is_mutex)
      return;
    auto [known, is_new] = mutexes_.try_emplace(wait.object, locks_.locks.size());
    if (is_new) {
      LockObject mutex;
      mutex.object = wait.object;
      mutex.kind = LockKind::mutex;
      mutex.is_held = true;
      mutex.state = "its owner is known to the operating system only";
      locks_.locks.push_back(std::move(mutex));
    }
    ++locks_.locks[known->second].waiters;
  }

  // A thread that waits for a System.Threading.Lock has a note of that on its stack: {address of a variable that holds
  // the lock, u32 kind, i32 timeout, next note}.
  void add_lock_waits() {
    const bool any = std::any_of(locks_.locks.begin(), locks_.locks.end(),
                                 [](const LockObject &lock) { return lock.kind == LockKind::lock && lock.waiters; });
    if (!any)
      return;
    for (const Thread &thread : snapshot_.target().threads)
      if (std::optional<u32> number = locks_.thread_with_os_id(thread.id))
        if (Address lock = find_note(thread.stack_pointer, *number))
          add(*number, WaitKind::lock, lock);
  }

  Address find_note(Address stack_pointer, u32 thread) {
    const Format format = memory_.format();
    const u64 p = format.pointer_size;
    const Address base = locks_.threads[thread].stack_base.value_or(0);
    if (stack_pointer >= base || base - stack_pointer > largest_stack)
      return 0;
    const Bytes stack = memory_.peek_up_to(stack_pointer, base - stack_pointer);
    auto is_on_stack = [&](Address at) { return at >= stack_pointer && at < base && at % p == 0; };
    for (u64 at = 0; at + 2 * p + 8 <= stack.size(); at += p) {
      const std::byte *note = stack.data() + at;
      const u64 variable = load_pointer(note, format), next = load_pointer(note + p + 8, format);
      if (load<u32>(note + p, format.byte_order) != kind_of_lock || !is_on_stack(variable) ||
          (next && !is_on_stack(next)))
        continue;
      const LockObject *lock = locks_.find(memory_.try_pointer(variable).value_or(0));
      if (lock && lock->kind == LockKind::lock && lock->is_held && lock->owner != thread) {
        memory_.note_read(stack_pointer + at, 2 * p + 8);
        return lock->object;
      }
    }
    return 0;
  }

  // Is there a lock of which more threads wait, or read, than are known? And which tasks run on which threads?
  bool needs_stacks() const {
    return !out_.waits.empty() || std::any_of(locks_.locks.begin(), locks_.locks.end(), [](const LockObject &lock) {
      return lock.kind == LockKind::reader_writer && (lock.waiters || lock.reader_count);
    });
  }

  // Each thread keeps a list of what it reads: {lockID, readercount, …, next}.
  void add_reader(u32 thread, Address count) {
    constexpr u64 most = 4096; // locks of one thread
    FieldReader fields(snapshot_.runtime());
    if (by_number_.empty())
      for (u64 i = 0; i < locks_.locks.size(); ++i)
        if (const LockObject &lock = locks_.locks[i]; lock.kind == LockKind::reader_writer && lock.reader_count)
          if (const std::optional<u64> number = fields.number<u64>(lock.object, "_lockID"))
            by_number_.emplace(*number, i);
    for (u64 i = 0; i < most && count; ++i, count = fields.reference_or_null(count, "next")) {
      const std::optional<u32> times = fields.number<u32>(count, "readercount");
      auto lock = by_number_.find(fields.number<u64>(count, "lockID").value_or(0));
      if (times.value_or(0) && lock != by_number_.end())
        locks_.locks[lock->second].readers.push_back(thread);
    }
  }

  void add_stack_waits() {
    const RootSet &roots = snapshot_.roots();
    for (const Root &root : roots.roots) {
      const RootThread *of = roots.thread(root);
      std::optional<u32> thread = of && of->os_id ? locks_.thread_with_os_id(*of->os_id) : std::nullopt;
      if (!thread)
        continue;
      if (root.kind == RootKind::thread_static) {
        if (TaskNumber task = tasks_.find(root.object); task != no_task && roots.name(root) == current_task)
          running_.by_thread_static[task] = *thread;
        else if (roots.name(root) == counts_of_readers)
          add_reader(*thread, root.object);
        continue;
      }
      if (!is_on_stack(root.kind))
        continue;
      if (TaskNumber task = tasks_.find(root.object); task != no_task && tasks_.is_pending(task)) {
        running_.by_stack[task].insert(*thread);
        // A byref into the box is the `this` of its own state machine; other calls of the method hold it whole.
        if (root.interior && !root.is_conservative() && is_own_method(task, roots.name(root)))
          running_.by_own_method[task] = *thread;
      }
      const LockObject *lock = locks_.find(root.object);
      const bool is_in_wait = root.is_conservative() || roots.name(root).starts_with(methods_of_reader_writer);
      if (lock && lock->kind == LockKind::reader_writer && lock->waiters && lock->owner != thread && is_in_wait)
        add(*thread, WaitKind::lock, lock->object, true);
    }
  }

  // Of an async method: "Shop.Cart+<Pay>d__2.MoveNext()", of the box of "Shop.Cart+<Pay>d__2".
  bool is_own_method(TaskNumber task, std::string_view method) const {
    constexpr std::string_view move_next = ".MoveNext()";
    if (!tasks_.type(task).is_box || !method.ends_with(move_next))
      return false;
    const std::string machine = "<" + std::string(method.substr(0, method.size() - move_next.size())) + ">";
    return tasks_.type(task).name.ends_with("+AsyncStateMachineBox" + machine);
  }

  Snapshot &snapshot_;
  const Memory &memory_;
  LockSet &locks_;
  Tasks &tasks_;
  ThreadWaits out_;
  std::map<Address, u64> mutexes_; // → index in LockSet::locks, until these are sorted
  std::map<u32, u64> waits_;       // thread → index in out_.waits
  std::map<Address, TaskNumber> task_of_event_;
  RunningTasks running_;
  std::map<u64, u64> by_number_; // of ReaderWriterLockSlim → index in LockSet::locks
};

} // namespace

const char *name_of(WaitKind kind) {
  constexpr const char *names[] = {"lock", "pulse", "event", "semaphore", "task", "mutex", "wait_handle"};
  return names[static_cast<u8>(kind)];
}

ThreadWaits find_waits(Snapshot &snapshot, LockSet &locks, Tasks &tasks) {
  return WaitFinder(snapshot, locks, tasks).find();
}

} // namespace dnheap
