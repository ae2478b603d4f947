#include "analysis/waits/lost_signals.h"

#include "analysis/answer_head.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/threads/thread_objects.h"
#include "analysis/threads/thread_text.h"
#include "base/text.h"
#include "objects/live.h"
#include "objects/roots.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

namespace dnheap {

namespace {

constexpr u64 main_thread = 1; // its managed id

// Returns what has to come before the waiters of a countdown or a barrier go on; nullopt: nothing, or it is unknown.
std::optional<std::string> signals_missing(FieldReader &fields, const LockObject &lock) {
  auto text = [](u64 missing, u64 all, const char *one, const char *many) {
    return missing && missing <= all ? std::optional(fmt::format("{} of {} {}", count_text(missing), count_text(all),
                                                                 missing == 1 ? one : many))
                                     : std::nullopt;
  };
  if (lock.kind == LockKind::countdown)
    return text(fields.number<u32>(lock.object, "_currentCount").value_or(0),
                fields.number<u32>(lock.object, "_initialCount").value_or(0), "signals is missing",
                "signals are missing");
  // The lowest 15 bits: participants; from bit 16 on, 15 bits: those that have arrived.
  const u32 counts = fields.number<u32>(lock.object, "_currentTotalCount").value_or(0), participants = counts & 0x7fff,
            arrived = counts >> 16 & 0x7fff;
  std::optional<std::string> out = text(participants - std::min(arrived, participants), participants,
                                        "participants has not arrived", "participants have not arrived");
  if (const std::optional<u64> phase = fields.number<u64>(lock.object, "_currentPhase"); out && phase)
    *out += fmt::format(" in phase {}", count_text(*phase));
  return out;
}

class LostSignalFinder {
public:
  LostSignalFinder(const Snapshot &snapshot, const LockSet &locks, std::span<const ThreadWait> waits)
      : snapshot_(snapshot), locks_(locks), fields_(snapshot.runtime()),
        thread_objects_(threads_by_object(snapshot.runtime(), locks.threads)) {
    for (const ThreadWait &wait : waits) {
      waits_[wait.thread].push_back(&wait);
      const LockObject *lock = locks.find(wait.object);
      const bool is_barrier = lock && lock->kind == LockKind::barrier; // its method shows whether it can be canceled
      if (wait.is_limit_unknown && !is_barrier && !cancelers_.contains(wait.thread))
        find_cancelers(wait.thread);
    }
    for (const auto &[thread, all] : waits_)
      if (std::ranges::all_of(all, [&](const ThreadWait *wait) { return is_endless(*wait); }))
        asleep_.insert(thread);
    if (!asleep_.empty())
      find_current_tasks();
  }

  std::vector<LostSignal> find() {
    if (!has_candidates() || !knows_all_roots(snapshot_))
      return {};
    LiveMarking marking(snapshot_.index(), snapshot_.references(), snapshot_.threads(), snapshot_.watch());
    marking.mark(roots_of_awake(marking));
    while (wake(marking)) // each round wakes a thread, so there are no more rounds than threads
      snapshot_.watch().check();
    std::vector<LostSignal> out;
    for (auto &[object, event] : lost(marking))
      out.push_back(std::move(event));
    std::ranges::stable_sort(out, std::greater(), [](const LostSignal &one) { return one.threads.size(); });
    return out;
  }

private:
  // The marking is worth its time only for these: many programs have a worker that waits for work, and a main thread
  // that waits for the end.
  bool has_candidates() {
    const std::set<u32> waited_for = threads_waited_for();
    return std::ranges::any_of(asleep_, [&](u32 thread) {
      const std::vector<const ThreadWait *> &all = waits_.at(thread);
      return all.size() == 1 && may_be_lost(*all.front()) && !is_parked(*all.front()) &&
             (!is_for_work(*all.front()) || waited_for.contains(thread));
    });
  }

  void find_current_tasks() {
    std::map<u64, u32> numbers;
    for (const u32 thread : asleep_)
      numbers.emplace(number_of(thread), thread);
    const RootSet &roots = snapshot_.roots();
    for (const Root &root : roots.roots)
      if (const RootThread *of = roots.thread(root); of && of->os_id && is_current_task(root))
        if (const auto thread = numbers.find(*of->os_id); thread != numbers.end())
          current_tasks_.emplace(root.object, thread->second);
  }

  // True for a wait by which workers wait for their next work.
  bool is_for_work(const ThreadWait &wait) const {
    const auto part = locks_.collections.find(wait.object);
    if (part != locks_.collections.end())
      return !part->second.is_for_place;
    const LockObject *lock = locks_.find(wait.object);
    return wait.kind == WaitKind::pulse || (wait.kind == WaitKind::semaphore && lock && !lock->permits);
  }

  // Returns the threads for which those that are asleep wait: for their end, their tasks, or locks that they have.
  std::set<u32> threads_waited_for() const {
    std::set<u32> out;
    for (const u32 thread : asleep_)
      for (const ThreadWait *wait : waits_.at(thread))
        if (wait->kind == WaitKind::join)
          out.insert(thread_objects_.at(wait->object));
        else if (wait->kind == WaitKind::lock)
          out.insert(*locks_.find(wait->object)->owner);
        else if (const auto task = current_tasks_.find(wait->object); task != current_tasks_.end())
          out.insert(task->second);
    return out;
  }

  // True for a wait of which it is known that nothing but another thread ends it.
  bool is_endless(const ThreadWait &wait) const {
    if (wait.is_by_stack || wait.is_for_callback || !number_of(wait.thread))
      return false;
    const LockObject *lock = locks_.find(wait.object);
    if (lock && lock->kind == LockKind::barrier)
      return waits_for_all_others(wait.thread);
    if (wait.has_limit || !wait.object || (wait.is_limit_unknown && !cancelers_.contains(wait.thread)))
      return false;
    switch (wait.kind) {
    case WaitKind::event:
    case WaitKind::wait_handle:
    case WaitKind::semaphore: return lock != nullptr;
    case WaitKind::pulse:
    case WaitKind::task: return true;
    case WaitKind::join: return thread_objects_.contains(wait.object);
    case WaitKind::lock: return lock && lock->owner && !locks_.has_ended(*lock->owner);
    default: return false;
    }
  }

  // True for objects that are named as lost; other waits only follow.
  bool may_be_lost(const ThreadWait &wait) {
    const LockObject *lock = locks_.find(wait.object);
    if (wait.is_for_any)
      return false;
    switch (wait.kind) {
    case WaitKind::pulse: return true;
    case WaitKind::semaphore: return lock != nullptr;
    case WaitKind::event:
    case WaitKind::wait_handle:
      return lock && (lock->kind == LockKind::event ||
                      ((lock->kind == LockKind::countdown || lock->kind == LockKind::barrier) &&
                       signals_missing(fields_, *lock)));
    default: return false;
    }
  }

  bool can_end(const ThreadWait &wait, const LiveMarking &marking) const {
    if (wait.kind == WaitKind::join)
      return !asleep_.contains(thread_objects_.at(wait.object));
    if (wait.kind == WaitKind::lock)
      return !asleep_.contains(*locks_.find(wait.object)->owner);
    const auto cancelers = cancelers_.find(wait.thread);
    if (cancelers != cancelers_.end() &&
        std::ranges::any_of(cancelers->second, [&](Address source) { return marking.found(source); }))
      return true;
    if (held_back_.contains(wait.object)) // a task that runs on a thread that is asleep
      return false;
    return !snapshot_.index().is_object(wait.object) || marking.found(wait.object);
  }

  // Finds the CancellationTokenSources to which the waiting methods refer. A BlockingCollection makes one for each
  // wait; whoever can cancel the token that the program gave leads to it.
  void find_cancelers(u32 thread) {
    const Runtime &runtime = snapshot_.runtime();
    const WalkedStack stack = runtime.walk_stack(locks_.threads[thread]);
    const BaseTypes bases(runtime);
    for (const StackFrame &frame : std::span(stack.frames).first(waits_for(runtime, stack).frames))
      for (const StackReference &reference : frame.references)
        if (const Address mt = method_table_of(runtime.memory(), reference.value);
            mt && runtime.types().object_layout(mt) && bases.derives(mt, "System.Threading.CancellationTokenSource"))
          cancelers_[thread].push_back(reference.value);
  }

  // Wakes the threads whose waits can end, and marks what they lead to. Returns false if there was none.
  bool wake(LiveMarking &marking) {
    std::set<u64> awake; // by their number in the system
    RootStage more;
    for (auto at = asleep_.begin(); at != asleep_.end();) {
      const std::vector<const ThreadWait *> &all = waits_.at(*at);
      auto ends = [&](const ThreadWait *wait) { return can_end(*wait, marking); };
      const bool goes_on = all.front()->is_for_any ? std::ranges::any_of(all, ends) : std::ranges::all_of(all, ends);
      if (goes_on)
        awake.insert(number_of(*at));
      at = goes_on ? asleep_.erase(at) : std::next(at);
    }
    if (awake.empty())
      return false;
    const RootSet &roots = snapshot_.roots();
    for (const Root &root : roots.roots)
      if (const RootThread *of = roots.thread(root); of && of->os_id && awake.contains(*of->os_id)) {
        if (is_current_task(root) && held_back_.erase(root.object))
          marking.let_through(root.object);
        more.objects.push_back(root.object);
      }
    marking.mark(more);
    return true;
  }

  std::map<Address, LostSignal> lost(const LiveMarking &marking) {
    std::map<Address, LostSignal> out;
    std::set<u32> followers = asleep_;
    for (const u32 thread : asleep_) {
      const ThreadWait &wait = *waits_.at(thread).front();
      const bool is_found = !snapshot_.index().is_object(wait.object) || marking.found(wait.object);
      if (waits_.at(thread).size() > 1 || is_found || !may_be_lost(wait))
        continue;
      const LockObject *lock = locks_.find(wait.object);
      LostSignal &to = out[wait.object];
      to.event = wait.object;
      to.kind = wait.kind;
      if (lock && (lock->kind == LockKind::countdown || lock->kind == LockKind::barrier))
        to.missing = signals_missing(fields_, *lock).value_or("");
      to.threads.push_back(thread);
      followers.erase(thread);
    }
    const std::set<u32> waited_for = threads_waited_for();
    std::erase_if(out, [&](const auto &one) {
      const std::vector<u32> &threads = one.second.threads;
      const ThreadWait &wait = *waits_.at(threads.front()).front();
      const bool is_left_over = // workers for whom nobody waits
          is_for_work(wait) && std::ranges::none_of(threads, [&](u32 thread) { return waited_for.contains(thread); });
      return is_left_over || (threads.size() == 1 && is_parked(wait));
    });
    for (auto &[object, event] : out)
      event.has_followers = !followers.empty();
    return out;
  }

  // True for a wait by which programs keep their main thread, if it waits alone.
  bool is_parked(const ThreadWait &wait) const {
    const LockObject *lock = locks_.find(wait.object);
    const bool has_signals = lock && (lock->kind == LockKind::countdown || lock->kind == LockKind::barrier);
    return locks_.threads[wait.thread].managed_id == main_thread && !has_signals &&
           !locks_.collections.contains(wait.object);
  }

  // A Barrier waits again and again for some seconds, so the records of each wait show a limit. Only its method without
  // parameters has none.
  bool waits_for_all_others(u32 thread) const {
    const Runtime &runtime = snapshot_.runtime();
    const WalkedStack stack = runtime.walk_stack(locks_.threads[thread]);
    return std::ranges::any_of(method_frames(stack), [&](const StackFrame *frame) {
      return frame->method_desc && runtime.method_text(frame->method_desc).name == endless_barrier_wait;
    });
  }

  u64 number_of(u32 thread) const { return locks_.threads[thread].os_id.value_or(0); }

  bool is_current_task(const Root &root) const {
    return root.kind == RootKind::thread_static && snapshot_.roots().name(root) == current_task;
  }

  // A waiting thread does not signal what it waits for, nor does the task that it runs.
  RootStage roots_of_awake(LiveMarking &marking) {
    const RootSet &roots = snapshot_.roots();
    std::set<u64> asleep;
    for (const u32 thread : asleep_)
      asleep.insert(number_of(thread));
    RootStage out;
    for (const Root &root : roots.roots) {
      const RootThread *of = roots.thread(root);
      const bool is_asleep = of && of->os_id && asleep.contains(*of->os_id);
      if (!is_asleep)
        out.objects.push_back(root.object);
      else if (is_current_task(root) && held_back_.insert(root.object).second)
        marking.hold_back(root.object);
    }
    return out;
  }

  static constexpr std::string_view endless_barrier_wait = "System.Threading.Barrier.SignalAndWait()";
  static constexpr std::string_view current_task = "System.Threading.Tasks.Task.t_currentTask";

  const Snapshot &snapshot_;
  const LockSet &locks_;
  FieldReader fields_;
  std::map<u32, std::vector<const ThreadWait *>> waits_; // by thread
  std::map<u32, std::vector<Address>> cancelers_;        // by thread
  const std::map<Address, u32> thread_objects_;          // a Thread → its thread
  std::set<u32> asleep_;                                 // threads that nothing is known to wake
  std::set<Address> held_back_;                          // tasks that run on these
  std::map<Address, u32> current_tasks_;                 // task → the thread that is asleep in it
};

} // namespace

std::vector<LostSignal> find_lost_signals(const Snapshot &snapshot, const LockSet &locks,
                                          std::span<const ThreadWait> waits) {
  return LostSignalFinder(snapshot, locks, waits).find();
}

} // namespace dnheap
