#include "analysis/verdict/hangs.h"

#include "analysis/names/compiled_names.h"
#include "analysis/names/source_line_text.h"
#include "analysis/threads/async_calls.h"
#include "analysis/threads/native_places.h"
#include "analysis/threads/pool_places.h"
#include "analysis/threads/thread_pool.h"
#include "analysis/verdict/process_exit.h"
#include "analysis/verdict/stuck_threads.h"
#include "analysis/waits/deadlock_text.h"
#include "analysis/waits/kinds/callback_waits.h"
#include "analysis/waits/kinds/console_waits.h"
#include "analysis/waits/kinds/named_mutex.h"
#include "analysis/waits/lost_signals.h"
#include "analysis/waits/wait_texts.h"
#include "base/most_frequent.h"
#include "base/text.h"
#include "objects/roots.h"
#include "runtime/facts/thread_details.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace dnheap {

namespace {

// Waits that may be part of a circle, or for a signal that nobody can give: texts of waits_for(), and
// wait_for_constructor.
constexpr const char *waits_of_circles[] = {"a lock",
                                            "a lock (System.Threading.Lock)",
                                            "a lock (ReaderWriterLockSlim)",
                                            "a semaphore",
                                            wait_for_item,
                                            wait_for_place,
                                            "a task",
                                            "an event",
                                            "a countdown",
                                            "a barrier",
                                            "the end of a thread",
                                            "a pulse (Monitor.Wait)",
                                            wait_for_finalizers,
                                            wait_for_callback,
                                            wait_for_constructor};
// Some 3 µs for each; if there are more, only `locks` looks for deadlocks.
constexpr u64 most_asynchronous_waiters = 500000;
constexpr u64 most_calls_alone = 10000;   // pending calls that are looked at even if nothing else requires it
constexpr u64 most_calls_listed = 500000; // pending calls of which the stacks are built, some µs for each

bool may_be_in_a_circle(const WaitText &wait) {
  return std::find(std::begin(waits_of_circles), std::end(waits_of_circles), wait.text) != std::end(waits_of_circles);
}

// The numbers of objects of which circles consist, dead objects included.
struct Counts {
  u64 asynchronous_waiters = 0, mutexes = 0, calls = 0;
};

Counts count_objects(const Snapshot &snapshot) {
  Counts out;
  for (const TypeTally &type : snapshot.tally().types) {
    const std::string &name = snapshot.runtime().types().name(type.method_table);
    if (name == "System.Threading.SemaphoreSlim+TaskNode")
      out.asynchronous_waiters += type.total().count;
    else if (name == "System.Threading.Mutex")
      out.mutexes += type.total().count;
    else if (name.find("+AsyncStateMachineBox<") != name.npos || name.starts_with(runtime_async_task))
      out.calls += type.total().count;
  }
  return out;
}

bool may_be_deadlocked(const Counts &counts, std::span<const WaitText> waits, HangFacts &out) {
  if (counts.asynchronous_waiters > most_asynchronous_waiters) {
    out.note = "deadlocks were not looked for, since " + count_text(counts.asynchronous_waiters) +
               " asynchronous methods wait for semaphores: dnheap locks looks for them";
    return false;
  }
  auto waits_for_handle = [](const WaitText &wait) { return wait.text == "a wait handle"; };
  if (counts.asynchronous_waiters || (counts.calls && counts.calls <= most_calls_alone) ||
      (counts.mutexes && std::any_of(waits.begin(), waits.end(), waits_for_handle)) ||
      std::any_of(waits.begin(), waits.end(), may_be_in_a_circle))
    return true;
  if (counts.calls)
    out.note = "asynchronous calls that wait for each other were not looked for, since there are " +
               count_text(counts.calls) + " of them: dnheap locks looks for these";
  return false;
}

// True if a thread waits for a handle inside a timer's callback: perhaps for the end of that callback.
bool waits_in_timer(const Runtime &runtime, std::span<const ThreadData> threads, std::span<const WaitText> waits) {
  for (u64 i = 0; i < threads.size(); ++i)
    if (waits[i].text == "a wait handle" && !waits[i].is_idle && runs_timer(runtime, runtime.walk_stack(threads[i])))
      return true;
  return false;
}

// Names the calls for whose tasks most blocked workers of the pool wait, and where these calls are suspended: "11 of
// the tasks are calls of Shop.Orders.LoadAsync (Orders.cs:12)".
std::string tasks_of_workers(const Snapshot &snapshot, const LockSet &locks, const ThreadWaits &waits,
                             const Tasks &tasks, SourceLines &lines) {
  std::map<AsyncFrame, u64> counts;
  std::set<u32> seen; // a thread may wait for several tasks
  for (const ThreadWait &wait : waits.waits) {
    const TaskNumber task = wait.kind == WaitKind::task ? tasks.behind(wait.object) : no_task;
    const u32 state = snapshot.runtime().thread_details(locks.threads[wait.thread]).state.value_or(0);
    if (task != no_task && tasks.is_method(task) && tasks.machine(task) && (state & ThreadDetails::pool_worker) &&
        seen.insert(wait.thread).second)
      ++counts[frame_of(tasks, task)];
  }
  const auto most = most_frequent(counts);
  if (most == counts.end())
    return "";
  const bool is_one = most->second == 1;
  return fmt::format("{} of the tasks {} of {}{}", count_text(most->second), is_one ? "is a call" : "are calls",
                     method_in_words(most->first.method), line_in_brackets(await_line(most->first, lines)));
}

// Returns where most of those stand that wait for a semaphore: "Shop.Cart.Pay (Cart.cs:41)"; empty: at several places.
std::string place_of_crowd(const Standing &standing, u64 crowd, SourceLines &lines) {
  for (const CallGroup &group : standing.calls)
    if (group.waits_for == "semaphore" && group.count * 2 > crowd)
      return method_in_words(group.method) + line_in_brackets(dnheap::line_of(group, lines));
  for (const ThreadGroup &group : standing.threads)
    if (group.waits_for == "a semaphore" && group.count * 2 > crowd)
      return group.method + line_in_brackets(lines.find(group.method_desc, group.ip, !group.is_active).at);
  return "";
}

// What methods do not show of waits: which threads wait for a Mutex, and for which semaphore ("static Shop.Pool.free, 0
// of 10 free"), by thread.
struct WaitDetails {
  std::set<u32> for_mutex;
  std::map<u32, std::string> semaphores;
};
WaitDetails details_of(const LockSet &locks, const ThreadWaits &waits) {
  WaitDetails out;
  for (const ThreadWait &wait : waits.waits) {
    if (wait.kind == WaitKind::mutex)
      out.for_mutex.insert(wait.thread);
    const LockObject *lock = wait.kind == WaitKind::semaphore ? locks.find(wait.object) : nullptr;
    if (!lock || locks.collections.contains(wait.object))
      continue;
    auto field = waits.fields.find(wait.object);
    const std::string state = lock->permits ? fmt::format("0 of {} free", count_text(lock->permits)) : "";
    std::string &to = out.semaphores[wait.thread];
    to = field != waits.fields.end() ? field->second : "";
    to += to.empty() || state.empty() ? state : ", " + state;
  }
  return out;
}

// Names the semaphore for which groups of threads wait.
void name_semaphores(const std::map<u32, std::string> &semaphores, std::vector<ThreadGroup> &groups) {
  for (ThreadGroup &group : groups) {
    auto first = group.threads.empty() ? semaphores.end() : semaphores.find(group.threads.front());
    if (first != semaphores.end() && std::ranges::all_of(group.threads, [&](u32 thread) {
          auto one = semaphores.find(thread);
          return one != semaphores.end() && one->second == first->second;
        }))
      group.detail = first->second;
  }
}

// Names the Mutex for which groups of threads wait.
void name_mutexes(const Target &target, const std::set<u32> &threads, std::vector<ThreadGroup> &groups) {
  const std::string name = threads.empty() ? "" : only_named_mutex(target);
  for (ThreadGroup &group : groups)
    if (group.waits_for == "a wait handle" && !group.threads.empty() &&
        std::ranges::all_of(group.threads, [&](u32 thread) { return threads.contains(thread); }))
      group.waits_for = name.empty() ? "a Mutex" : "a Mutex (the only named one here is " + name + ")";
}

WaitDetails add_deadlocks(const Snapshot &snapshot, Tasks &tasks, std::span<const WaitText> wait_texts,
                          ThreadPlaces &places, SourceLines &lines, const std::optional<ProcessExit> &exit,
                          HangFacts &to) {
  LockSet locks = find_locks(snapshot);
  const ThreadWaits waits = find_waits(snapshot, locks, tasks);
  DeadlockText text(snapshot.runtime(), tasks, locks);
  std::optional<StuckThreads> holders; // none if the list of threads was read anew, and is another
  if (locks.threads.size() == wait_texts.size()) {
    holders.emplace(snapshot.runtime(), locks, waits, text, wait_texts, places, lines);
    holders->add_contended(to);
    holders->add_chain(to);
    holders->add_of_finalizers(to);
    if (exit)
      holders->add_of_exit(*exit, to);
    holders->add_lost(find_lost_signals(snapshot, locks, waits.waits), to);
    to.pool_tasks = tasks_of_workers(snapshot, locks, waits, tasks, lines);
  }
  Sureness best = Sureness::possible;
  for (const DeadlockText::Circle &circle : waits.circles) {
    const Sureness sureness = text.sureness_of(circle);
    if (!to.deadlocks || sureness < best) {
      best = sureness;
      to.deadlock_text = text.brief(circle);
      to.deadlock_places = holders ? holders->places_in(circle, tasks) : "";
      to.deadlock_sureness = sureness;
    }
    ++to.deadlocks;
  }
  to.crowds = waits.crowds.size();
  if (to.crowds) {
    const Crowd &crowd = waits.crowds.front();
    to.crowd = crowd.size();
    to.are_threads = crowd.threads > 0;
    to.are_calls = crowd.calls > 0;
    const LockObject *lock = locks.find(crowd.semaphore);
    to.is_perhaps_signal = !snapshot.runtime().il_code() && !(lock && lock->permits == 1);
    auto field = waits.fields.find(crowd.semaphore);
    const std::string type = text.type_name(crowd.semaphore);
    to.crowd_text = type.substr(type.rfind('.') + 1) + (field != waits.fields.end() ? " (" + field->second + ")" : "");
    if (!crowd.holders.empty())
      to.crowd_holder =
          holders ? holders->of_semaphore(crowd.holders.front(), tasks) : method_in_words(crowd.holders.front().method);
  }
  for (const LockObject &lock : locks.locks)
    if (locks.is_orphaned(lock) && !lock.waiting.empty()) {
      to.orphaned_waiters += lock.waiting.size();
      if (to.orphaned_text.empty())
        to.orphaned_text = fmt::format("{}, which managed thread {} had when it ended", text.object(lock.object),
                                       locks.threads[*lock.owner].managed_id.value_or(0));
    }
  return holders ? details_of(locks, waits) : WaitDetails();
}

// A queue that is full is enough, as it holds thousands of messages; the lock of Console.Out is usually held for short
// whiles.
void add_console(const Snapshot &snapshot, std::span<const ThreadData> threads, std::span<const WaitText> waits,
                 ThreadPlaces &places, HangFacts &to) {
  constexpr u64 least_in_queue = 2;
  const ConsoleWaits found = find_console_waits(snapshot, threads, waits);
  if (!found.writer || (found.in_queue.size() < least_in_queue && found.for_writer.size() < least_contenders))
    return;
  const Runtime &runtime = snapshot.runtime();
  const std::vector<u32> &most = found.in_queue.empty() ? found.for_writer : found.in_queue;
  to.console_waiters = found.in_queue.size() + found.for_writer.size();
  for (const u32 thread : most)
    if (const WalkedStack stack = runtime.walk_stack(threads[thread]);
        to.console_place.empty() || places.shows_method(stack, waits[thread])) {
      to.console_place = places.of(stack, waits[thread]);
      if (places.shows_method(stack, waits[thread]))
        break;
    }
  const std::string name = thread_name(runtime, runtime.thread_details(threads[*found.writer]));
  to.console_writer = "thread " + (name.empty() ? count_text(threads[*found.writer].os_id.value_or(0)) : name);
}

// Fills in what the words for waits show: a sleep ends in any case.
std::optional<ProcessExit> find_blocked_exit(const Snapshot &snapshot, std::span<const ThreadData> threads,
                                             std::span<const WaitText> waits, ThreadPlaces &places, SourceLines &lines,
                                             HangFacts &to) {
  std::optional<ProcessExit> exit = find_process_exit(snapshot, threads, places.groups(), lines);
  if (!exit || waits[exit->runner].text.empty())
    return std::nullopt;
  to.exit_begun = exit->begun_by;
  to.is_exit_handler = exit->is_handler;
  to.exit_place = places.of(snapshot.runtime().walk_stack(threads[exit->runner]), waits[exit->runner]);
  if (waits[exit->runner].text == "sleep")
    to.exit_sureness = Sureness::possible;
  return exit;
}

} // namespace

std::string find_finalizer_place(const Snapshot &snapshot, Notes &problems) {
  const std::vector<ThreadData> threads = snapshot.runtime().threads(problems);
  SourceLines lines(snapshot);
  ThreadPlaces places(snapshot, lines);
  find_wait_texts(snapshot, threads, &places);
  return places.finalizer();
}

Standing find_standing_threads(const Snapshot &snapshot, SourceLines &lines) {
  Notes problems; // the verbs that list threads report them
  const std::vector<ThreadData> threads = snapshot.runtime().threads(problems);
  ThreadPlaces places(snapshot, lines);
  find_wait_texts(snapshot, threads, &places);
  Standing out;
  out.threads = places.groups();
  name_native_places(snapshot, threads, out.threads);
  return out;
}

HangFacts find_hangs(const Snapshot &snapshot, SourceLines &lines, Standing *standing) {
  HangFacts out;
  Notes problems; // the verbs that list threads report them
  const std::vector<ThreadData> threads = snapshot.runtime().threads(problems);
  ThreadPlaces places(snapshot, lines);
  const std::vector<WaitText> waits = find_wait_texts(snapshot, threads, &places);
  out.threads_text = places.most();
  out.finalizer_text = places.finalizer();
  if (const std::optional<u32> thread = places.finalizer_thread()) {
    out.is_finalizer_waiting = !waits[*thread].text.empty();
    if (threads[*thread].os_id != u64{0})
      out.finalizer_os_id = threads[*thread].os_id;
  }
  const std::optional<ProcessExit> exit = find_blocked_exit(snapshot, threads, waits, places, lines, out);
  const std::vector<Root> &roots = snapshot.roots().roots;
  out.finalizer_objects = static_cast<u64>(
      std::count_if(roots.begin(), roots.end(), [](const Root &root) { return root.kind == RootKind::finalizer; }));
  const Counts counts = count_objects(snapshot);
  const bool looks_for_deadlocks =
      may_be_deadlocked(counts, waits, out) || (out.note.empty() && waits_in_timer(snapshot.runtime(), threads, waits));
  const bool has_calls = counts.calls || counts.asynchronous_waiters;
  const bool lists_calls = standing && has_calls && counts.calls <= most_calls_listed;
  std::optional<Tasks> tasks;
  if (looks_for_deadlocks || lists_calls)
    tasks.emplace(snapshot);
  WaitDetails details;
  if (looks_for_deadlocks)
    details = add_deadlocks(snapshot, *tasks, waits, places, lines, exit, out);
  add_console(snapshot, threads, waits, places, out);
  out.pool = find_pool_stands(snapshot.runtime(), threads, waits);
  const bool is_pool_busy = out.pool.workers && !out.pool.idle;
  const ThreadPool pool = is_pool_busy || lists_calls ? read_thread_pool(snapshot) : ThreadPool();
  if (is_pool_busy) {
    out.pool.queued = pool.queued_items;
    out.pool.is_queue_cut = pool.is_cut;
    if (out.pool.is_starved()) {
      out.pool_place = place_of_workers(snapshot.runtime(), threads, places.groups(), out.pool.blocked > 0, lines);
      out.pool_work = work_in_queue(pool, FrameworkNames(snapshot.assemblies()));
    }
  }
  if (standing) {
    standing->threads = places.groups();
    name_mutexes(snapshot.target(), details.for_mutex, standing->threads);
    name_semaphores(details.semaphores, standing->threads);
    name_native_places(snapshot, threads, standing->threads);
  }
  if (lists_calls)
    standing->calls =
        group_calls(AsyncStacks(*tasks, pool, snapshot.runtime(), snapshot.threads(), snapshot.watch()).stacks(),
                    FrameworkNames(snapshot.assemblies()));
  if (out.crowd && standing)
    out.crowd_place = place_of_crowd(*standing, out.crowd, lines);
  return out;
}

} // namespace dnheap
