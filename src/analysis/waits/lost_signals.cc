#include "analysis/waits/lost_signals.h"

#include "analysis/answer_head.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/threads/thread_text.h"
#include "base/text.h"
#include "objects/live.h"
#include "objects/roots.h"

#include <algorithm>
#include <fmt/format.h>

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
      : snapshot_(snapshot), locks_(locks), fields_(snapshot.runtime()) {
    for (u64 i = 0; i < waits.size(); ++i) {
      const bool is_one_of_several = (i && waits[i - 1].thread == waits[i].thread) ||
                                     (i + 1 < waits.size() && waits[i + 1].thread == waits[i].thread);
      if (!is_one_of_several)
        add(waits[i]);
    }
  }

  std::vector<LostSignal> find() {
    if (events_.empty() || !knows_all_roots(snapshot_))
      return {};
    LiveMarking marking(snapshot_.index(), snapshot_.references(), snapshot_.threads(), snapshot_.watch());
    const RootStage others = roots_of_others(marking);
    marking.mark(others);
    std::vector<LostSignal> out;
    for (auto &[object, event] : events_)
      if (snapshot_.index().is_object(object) && !marking.found(object))
        out.push_back(std::move(event));
    std::ranges::stable_sort(out, std::greater(), [](const LostSignal &one) { return one.threads.size(); });
    return out;
  }

private:
  void add(const ThreadWait &wait) {
    const bool may_be_lost = wait.kind == WaitKind::event || wait.kind == WaitKind::wait_handle;
    const LockObject *lock = may_be_lost && !wait.is_for_any && !wait.is_by_stack ? locks_.find(wait.object) : nullptr;
    if (!lock || (lock->kind == LockKind::barrier ? !waits_for_all_others(wait.thread)
                                                  : wait.has_limit || wait.is_limit_unknown))
      return;
    std::optional<std::string> missing;
    if (lock->kind == LockKind::countdown || lock->kind == LockKind::barrier)
      missing = signals_missing(fields_, *lock);
    else if (lock->kind == LockKind::event && locks_.threads[wait.thread].managed_id != main_thread)
      missing = "";
    if (!missing)
      return;
    LostSignal &to = events_[wait.object];
    to.event = wait.object;
    to.missing = *missing;
    to.threads.push_back(wait.thread);
    waiting_.insert(locks_.threads[wait.thread].os_id.value_or(0));
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

  // A waiting thread does not signal what it waits for, nor does the task that it runs.
  RootStage roots_of_others(LiveMarking &marking) const {
    const RootSet &roots = snapshot_.roots();
    RootStage out;
    for (const Root &root : roots.roots) {
      const RootThread *of = roots.thread(root);
      const bool is_waiters = of && of->os_id && waiting_.contains(*of->os_id);
      if (!is_waiters)
        out.objects.push_back(root.object);
      else if (root.kind == RootKind::thread_static && roots.name(root) == current_task)
        marking.hold_back(root.object);
    }
    return out;
  }

  static constexpr std::string_view endless_barrier_wait = "System.Threading.Barrier.SignalAndWait()";
  static constexpr std::string_view current_task = "System.Threading.Tasks.Task.t_currentTask";

  const Snapshot &snapshot_;
  const LockSet &locks_;
  FieldReader fields_;
  std::map<Address, LostSignal> events_;
  std::set<u64> waiting_; // threads by their number in the system
};

} // namespace

std::vector<LostSignal> find_lost_signals(const Snapshot &snapshot, const LockSet &locks,
                                          std::span<const ThreadWait> waits) {
  return LostSignalFinder(snapshot, locks, waits).find();
}

} // namespace dnheap
