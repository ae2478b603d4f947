#include "analysis/threads/thread_text.h"
#include "analysis/waits/kinds/callback_waits.h"
#include "analysis/waits/kinds/constructor_waits.h"
#include "analysis/waits/kinds/handle_waits.h"
#include "analysis/waits/kinds/join_waits.h"
#include "analysis/waits/wait_graph.h"
#include "objects/roots.h"
#include "runtime/facts/thread_details.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 largest_stack = 64 << 20; // bytes; larger stacks are not searched
constexpr u32 no_limit = ~u32{0};       // of a wait, in ms
// Values of System.Threading.ThreadBlockingInfo+ObjectKind.
constexpr u32 kind_of_lock = 2, kind_of_condition = 3;
constexpr const char *counts_of_readers = "System.Threading.ReaderWriterLockSlim.t_rwc";
constexpr const char *methods_of_reader_writer = "System.Threading.ReaderWriterLockSlim.";
constexpr const char *current_task = "System.Threading.Tasks.Task.t_currentTask";

class WaitFinder {
public:
  WaitFinder(const Snapshot &snapshot, LockSet &locks, Tasks &tasks)
      : snapshot_(snapshot), memory_(snapshot.runtime().memory()), locks_(locks), tasks_(tasks),
        semaphore_waits_(tasks, snapshot.runtime(), locks.by_node, snapshot.watch()) {}

  ThreadWaits find() {
    find_tasks_of_events();
    for (u64 i = 0; i < locks_.locks.size(); ++i)
      if (locks_.locks[i].kind == LockKind::mutex)
        mutexes_.emplace(locks_.locks[i].object, i);
    if (locks_.targets)
      add_managed_waits();
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
      if (!waits_.contains(wait.thread))
        add_handle_wait(wait);
    add_constructor_waits();
    add_waits_by_methods();
    add_callback_waits();
    find_unknown_limits();
    locks_.sort_locks();
    std::sort(out_.waits.begin(), out_.waits.end(),
              [](const ThreadWait &a, const ThreadWait &b) { return a.thread < b.thread; });
    for (const ThreadWait &wait : out_.waits)
      if (LockObject *lock = locks_.find(wait.object))
        lock->waiting.push_back(wait.thread);
    WaitGraph graph(snapshot_, locks_, tasks_, semaphore_waits_, out_.waits, running_);
    out_.circles = graph.circles();
    out_.may_have_taken = graph.may_have_taken();
    out_.fields = graph.fields();
    out_.crowds = graph.crowds(out_.may_have_taken);
    return std::move(out_);
  }

private:
  struct Behind {
    WaitKind kind;
    Address object;
    bool has_limit;          // of time
    bool is_for_any = false; // the wait ends with any of the tasks for which the event stands
  };

  // A thread that calls Task.Wait waits for an event that the task sets when it is done; Task.WaitAll has one for all.
  void find_tasks_of_events() {
    for (TaskNumber task = 0; task < tasks_.count(); ++task)
      if (tasks_.is_pending(task) && !tasks_.type(task).is_suspended_call) // a suspended call goes on with its task
        for (const Continuation &next : tasks_.continuations(task, 1024))
          if (next.kind == ContinuationKind::thread)
            tasks_of_event_.emplace(next.object, task);
  }

  void add(u32 thread, WaitKind kind, Address object, bool by_stack = false, bool has_limit = false) {
    const Behind one{kind, object, has_limit};
    add(thread, std::span(&one, 1), by_stack);
  }
  void add(u32 thread, std::span<const Behind> all, bool by_stack = false) {
    if (waits_.try_emplace(thread, out_.waits.size()).second)
      for (const Behind &one : all)
        out_.waits.push_back({thread, one.kind, one.object, by_stack, one.has_limit, false, one.is_for_any});
  }

  // Objects record these waits, so no other source is read for a thread that has one.
  void add_managed_waits() {
    const Runtime &runtime = snapshot_.runtime();
    std::vector<Address> places; // by index in out_.waits: where the innermost method waits
    std::vector<u64> limited;    // indices in out_.waits
    for (u32 thread = 0; thread < locks_.threads.size(); ++thread) {
      snapshot_.watch().check();
      const std::optional<ManagedWait> wait = locks_.targets->subsystem().wait_of(thread);
      if (!wait || wait->objects.empty())
        continue;
      const WalkedStack stack = runtime.walk_stack(locks_.threads[thread]);
      if (waits_for(runtime, stack).is_idle)
        continue;
      const u64 first = out_.waits.size();
      for (Address object : wait->objects)
        add_managed_wait(thread, locks_.targets->find(object));
      waits_.emplace(thread, first);
      const std::optional<Note> noted = note_of(thread);
      std::optional<bool> has_limit = noted ? std::optional(noted->has_limit) : wait_has_limit(runtime, stack);
      if (!has_limit && out_.waits.back().kind == WaitKind::join && is_endless_join(runtime, stack))
        has_limit = false;
      for (u64 i = first; i < out_.waits.size(); ++i) {
        if (out_.waits[i].has_limit) // this is the limit of the wait for the semaphore behind the event; it shows
                                     // nothing about the wait for the event
          limited.push_back(i);
        out_.waits[i].has_limit = has_limit.value_or(false);
        out_.waits[i].is_limit_unknown = !has_limit;
        out_.waits[i].is_for_any |= wait->objects.size() > 1 && !wait->is_for_all;
      }
      const std::vector<const StackFrame *> methods = method_frames(stack);
      places.resize(out_.waits.size(), methods.empty() ? 0 : methods[0]->ip);
    }
    find_limits(places);
    for (u64 i : limited) {
      out_.waits[i].has_limit = true;
      out_.waits[i].is_limit_unknown = false;
    }
  }

  // A method waits with a limit at one place, and without a limit at another. So if one wait at a place is known to
  // have a limit, all waits at this place have one.
  void find_limits(const std::vector<Address> &places) {
    std::map<Address, std::pair<bool, bool>> known; // by place: are there any without, with
    for (u64 i = 0; i < places.size(); ++i)
      if (places[i] && !out_.waits[i].is_limit_unknown)
        (out_.waits[i].has_limit ? known[places[i]].second : known[places[i]].first) = true;
    for (u64 i = 0; i < places.size(); ++i)
      if (auto at = known.find(places[i]);
          at != known.end() && out_.waits[i].is_limit_unknown && at->second.first != at->second.second) {
        out_.waits[i].has_limit = at->second.second;
        out_.waits[i].is_limit_unknown = false;
      }
  }

  void add_managed_wait(u32 thread, const WaitTargets::Target &target) {
    auto add = [&](WaitKind kind, Address object, bool has_limit = false, bool is_for_any = false) {
      out_.waits.push_back({thread, kind, object, false, has_limit, false, is_for_any});
    };
    if (locks_.targets->subsystem().thread_of(target.object))
      return add(WaitKind::join, target.object);
    LockObject *lock = locks_.find(target.object);
    if (!lock)
      return add(target.is_for_pulse ? WaitKind::pulse : WaitKind::wait_handle, target.object);
    const bool is_handle = locks_.targets->is_handle(method_table_of(memory_, target.object));
    switch (lock->kind) {
    case LockKind::thin_lock:
    case LockKind::monitor:
    case LockKind::lock: return add(target.is_for_pulse ? WaitKind::pulse : WaitKind::lock, target.object);
    case LockKind::reader_writer: return add(WaitKind::lock, target.object);
    case LockKind::semaphore: return add(WaitKind::semaphore, target.object);
    case LockKind::mutex: return add(WaitKind::mutex, target.object);
    case LockKind::countdown:
    case LockKind::barrier: return add(WaitKind::event, target.object);
    case LockKind::event:
      if (is_handle) {
        ++lock->waiters;
        return add(WaitKind::wait_handle, target.object);
      }
      for (const Behind &one : behind_event(target.object))
        add(one.kind, one.object, one.has_limit, one.is_for_any);
    }
  }

  // Returns the tasks whose end the event signals, or the semaphores for which these tasks stand; else the event
  // itself.
  std::vector<Behind> behind_event(Address event) const {
    std::vector<Behind> out;
    for (auto [at, end] = tasks_of_event_.equal_range(event); at != end; ++at) {
      if (tasks_.type(at->second).name.starts_with(promise_of_any))
        for (Address one : semaphore_waits_.sources_of(at->second))
          out.push_back({WaitKind::task, one, false, true});
      if (!out.empty() && out.back().is_for_any)
        continue;
      const SemaphoreWait wait = semaphore_waits_.stood_for_by(at->second);
      out.push_back(wait.semaphore ? Behind{WaitKind::semaphore, wait.semaphore, wait.has_limit}
                                   : Behind{WaitKind::task, tasks_.address(at->second), false});
    }
    if (out.empty())
      out.push_back({WaitKind::event, event, false});
    return out;
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
    const LockObject *lock = locks_.find(inner->second);
    if (lock && lock->kind == LockKind::semaphore)
      return add(wait.thread, WaitKind::semaphore, inner->second);
    std::vector<Behind> behind = behind_event(inner->second);
    for (Behind &one : behind) {
      one.has_limit |= wait.has_limit;
      if (auto outer = locks_.by_inner.find(one.object); one.kind == WaitKind::event && outer != locks_.by_inner.end())
        one.object = outer->second; // a countdown, a barrier
    }
    this->add(wait.thread, behind);
  }

  // If no object records the owner of a Mutex, only the operating system knows it. A thread that waits for the Mutex
  // shows that somebody has it.
  void add_handle_wait(const HandleWait &wait) {
    add(wait.thread, wait.is_mutex ? WaitKind::mutex : WaitKind::wait_handle, wait.object);
    out_.waits.back().is_limit_unknown = true;
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

  void add_constructor_waits() {
    for (const auto &[thread, wait] : find_constructor_waits(snapshot_.runtime(), locks_.threads))
      if (!waits_.contains(thread)) {
        add(thread, WaitKind::static_constructor, wait.type, wait.is_by_stack);
        out_.waits.back().runs_on = wait.runs_on;
        locks_.constructed.insert(wait.type);
      }
  }

  // Only methods show waits for finalizers and, unless .NET's own wait subsystem records them, for the end of a thread.
  void add_waits_by_methods() {
    const Runtime &runtime = snapshot_.runtime();
    const JoinWaits joins(runtime, locks_.threads);
    std::optional<u32> finalizer;
    for (u32 thread = 0; thread < locks_.threads.size() && !finalizer; ++thread)
      if (runtime.thread_details(locks_.threads[thread]).is_finalizer)
        finalizer = thread;
    for (u32 thread = 0; thread < locks_.threads.size(); ++thread) {
      snapshot_.watch().check();
      if (waits_.contains(thread) || locks_.threads[thread].os_id.value_or(0) == 0)
        continue;
      const WalkedStack stack = runtime.walk_stack(locks_.threads[thread]);
      const WaitText wait = waits_for(runtime, stack);
      if (const std::optional<JoinWait> join = joins.find(thread, stack, wait)) {
        add(thread, WaitKind::join, join->object, join->is_by_stack);
        out_.waits.back().runs_on = join->joined;
        out_.waits.back().is_limit_unknown = join->is_limit_unknown;
      }
      if (!finalizer || wait.text != wait_for_finalizers)
        continue;
      add(thread, WaitKind::finalizers, 0);
      out_.waits.back().runs_on = finalizer;
    }
  }

  // A task that a timer is to complete runs, in a way, on the thread of the timer's callback.
  void add_callback_waits() {
    const CallbackWaits found = find_callback_waits(snapshot_, locks_);
    for (const auto &[thread, runs_on] : found.by_token)
      if (!waits_.contains(thread)) {
        add(thread, WaitKind::callback, found.tokens.at(thread));
        out_.waits.back().runs_on = runs_on;
        out_.waits.back().is_for_callback = true;
      }
    for (ThreadWait &wait : out_.waits)
      if (auto signal = found.signals_of_timers.find(wait.object); signal != found.signals_of_timers.end()) {
        wait.is_for_callback = true;
        if (wait.kind != WaitKind::task)
          wait.runs_on = signal->second;
      }
    for (const auto &[signal, thread] : found.signals_of_timers)
      if (const TaskNumber task = tasks_.find(signal); task != no_task)
        running_.by_thread_static.emplace(task, thread);
  }

  // Some waits may have a time limit, or may be cancelled. Only the methods on the stack, and the objects to which they
  // refer, show that.
  void find_unknown_limits() {
    const Runtime &runtime = snapshot_.runtime();
    for (ThreadWait &wait : out_.waits) {
      const LockObject *lock = locks_.find(wait.object);
      const bool may_be_limited = wait.kind == WaitKind::task || wait.kind == WaitKind::semaphore ||
                                  wait.kind == WaitKind::event ||
                                  (wait.kind == WaitKind::lock && lock && lock->kind == LockKind::reader_writer);
      if (!may_be_limited || wait.has_limit || wait.is_limit_unknown)
        continue;
      snapshot_.watch().check();
      wait.is_limit_unknown =
          may_end_by_itself(runtime, runtime.walk_stack(locks_.threads[wait.thread]), !wait.is_by_stack);
    }
  }

  // A thread that waits for a System.Threading.Lock, or for a signal of its Condition, has a note of that on its stack:
  // {address of a variable that holds it, u32 kind, i32 timeout, next note}.
  void add_lock_waits() {
    const bool any = std::any_of(locks_.locks.begin(), locks_.locks.end(), [&](const LockObject &lock) {
      return lock.waiters &&
             (lock.kind == LockKind::lock || (lock.kind == LockKind::monitor && !locks_.by_lock.empty()));
    });
    if (!any || locks_.targets)
      return;
    for (const Thread &thread : snapshot_.target().threads)
      if (std::optional<u32> number = locks_.thread_with_os_id(thread.id))
        if (const std::optional<Note> note = find_note(thread.stack_pointer, *number))
          add(*number, WaitKind::lock, note->lock, false, note->has_limit);
  }

  struct Note {
    Address lock = 0; // or the object whose Monitor the lock is
    bool has_limit = false;
  };

  // Returns the note of a thread that waits for a Lock, also if the Lock is a Monitor's.
  std::optional<Note> note_of(u32 thread) {
    if (stack_pointers_.empty())
      for (const Thread &one : snapshot_.target().threads)
        stack_pointers_.emplace(one.id, one.stack_pointer);
    auto at = stack_pointers_.find(locks_.threads[thread].os_id.value_or(0));
    return at != stack_pointers_.end() ? find_note(at->second, thread) : std::nullopt;
  }

  std::optional<Note> find_note(Address stack_pointer, u32 thread) {
    const Format format = memory_.format();
    const u64 p = format.pointer_size;
    const Address base = locks_.threads[thread].stack_base.value_or(0);
    if (stack_pointer >= base || base - stack_pointer > largest_stack)
      return std::nullopt;
    const Bytes stack = memory_.peek_up_to(stack_pointer, base - stack_pointer);
    auto is_on_stack = [&](Address at) { return at >= stack_pointer && at < base && at % p == 0; };
    for (u64 at = 0; at + 2 * p + 8 <= stack.size(); at += p) {
      const std::byte *note = stack.data() + at;
      const u64 variable = load_pointer(note, format), next = load_pointer(note + p + 8, format);
      const u32 kind = load<u32>(note + p, format.byte_order);
      if ((kind != kind_of_lock && kind != kind_of_condition) || !is_on_stack(variable) || (next && !is_on_stack(next)))
        continue;
      const Address noted = memory_.try_pointer(variable).value_or(0);
      if (const Address lock = kind == kind_of_lock ? wanted_lock(noted, thread) : lock_of_condition(noted)) {
        memory_.note_read(stack_pointer + at, 2 * p + 8);
        return Note{lock, load<u32>(note + p + 4, format.byte_order) != no_limit};
      }
    }
    return std::nullopt;
  }

  // Returns a Lock that another thread has, or the object whose Monitor that Lock is; 0: `noted` is neither.
  Address wanted_lock(Address noted, u32 thread) const {
    auto monitor = locks_.by_lock.find(noted);
    const LockObject *lock = locks_.find(monitor != locks_.by_lock.end() ? monitor->second : noted);
    const bool is_one = lock && (lock->kind == LockKind::lock || monitor != locks_.by_lock.end());
    return is_one && lock->is_held && lock->owner != thread ? lock->object : 0;
  }
  Address lock_of_condition(Address noted) const {
    return locks_.targets && locks_.targets->is_condition(noted) ? locks_.targets->find(noted).object : 0;
  }

  // True if a lock may have more waiters or readers than are known, or if it matters which tasks run on which threads.
  bool needs_stacks() const {
    return !out_.waits.empty() || std::any_of(locks_.locks.begin(), locks_.locks.end(), [](const LockObject &lock) {
      return lock.kind == LockKind::reader_writer && (lock.waiters || lock.reader_count);
    });
  }

  // Each thread keeps a list of the locks that it reads: {lockID, readercount, …, next}.
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
        // A byref into the box is the `this` of its own state machine; other calls of the method refer to the box
        // itself.
        if (root.interior && !root.is_conservative() && is_own_method(task, roots.name(root)))
          running_.by_own_method[task] = *thread;
      }
      const LockObject *lock = locks_.find(root.object);
      const bool is_in_wait = root.is_conservative() || roots.name(root).starts_with(methods_of_reader_writer);
      if (lock && lock->kind == LockKind::reader_writer && lock->waiters && lock->owner != thread && is_in_wait)
        add(*thread, WaitKind::lock, lock->object, true);
    }
  }

  // True if the method is that of the task's state machine: "Shop.Cart+<Pay>d__2.MoveNext()" for the box of
  // "Shop.Cart+<Pay>d__2".
  bool is_own_method(TaskNumber task, std::string_view method) const {
    constexpr std::string_view move_next = ".MoveNext()";
    if (!tasks_.type(task).is_box || !method.ends_with(move_next))
      return false;
    const std::string machine = "<" + std::string(method.substr(0, method.size() - move_next.size())) + ">";
    return tasks_.type(task).name.ends_with("+AsyncStateMachineBox" + machine);
  }

  const Snapshot &snapshot_;
  const Memory &memory_;
  LockSet &locks_;
  Tasks &tasks_;
  SemaphoreWaits semaphore_waits_;
  ThreadWaits out_;
  std::map<Address, u64> mutexes_; // → index in LockSet::locks, until these are sorted
  std::map<u32, u64> waits_;       // thread → index in out_.waits
  std::multimap<Address, TaskNumber> tasks_of_event_;
  RunningTasks running_;
  std::map<u64, Address> stack_pointers_; // by thread's number
  std::map<u64, u64> by_number_;          // number of a ReaderWriterLockSlim → index in LockSet::locks
};

} // namespace

const char *name_of(WaitKind kind) {
  constexpr const char *names[] = {"lock",    "pulse",       "event", "semaphore",          "task",
                                   "mutex",   "wait_handle", "join",  "static_constructor", "finalizers",
                                   "callback"};
  return names[static_cast<u8>(kind)];
}

void foresee_waits(Plan &plan) { plan.perhaps(Pass::references).perhaps("walk"); }

ThreadWaits find_waits(const Snapshot &snapshot, LockSet &locks, Tasks &tasks) {
  return WaitFinder(snapshot, locks, tasks).find();
}

} // namespace dnheap
