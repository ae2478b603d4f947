#include "analysis/verdict/hangs.h"

#include "analysis/names/compiled_names.h"
#include "analysis/names/source_line_text.h"
#include "analysis/threads/async_calls.h"
#include "analysis/threads/native_places.h"
#include "analysis/threads/pool_places.h"
#include "analysis/threads/thread_pool.h"
#include "analysis/verdict/process_exit.h"
#include "analysis/waits/deadlock_text.h"
#include "analysis/waits/kinds/callback_waits.h"
#include "analysis/waits/kinds/console_waits.h"
#include "analysis/waits/kinds/named_mutex.h"
#include "analysis/waits/lock_chains.h"
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

// Finds who has locks for which many threads wait, or the thread that runs finalizers.
class LockHolders {
public:
  LockHolders(const Runtime &runtime, const LockSet &locks, const ThreadWaits &found, DeadlockText &text,
              std::span<const WaitText> waits, ThreadPlaces &places, SourceLines &lines)
      : runtime_(runtime), locks_(locks), found_(found), text_(text), waits_(waits), places_(places), lines_(lines),
        chains_(runtime, locks, found) {}

  void add_contended(HangFacts &to) {
    for (const LockObject &lock : locks_.locks)
      if (lock.is_held && !locks_.is_orphaned(lock) && lock.waiting.size() > to.contenders)
        if (const std::vector<u32> holders = holders_of(lock); !holders.empty()) {
          to.contenders = lock.waiting.size();
          to.contended_text = type_of(lock);
          to.contended_by = "thread " + text_.short_name(holders[0]) +
                            (holders.size() > 1 ? fmt::format(" (and {} more)", count_text(holders.size() - 1)) : "") +
                            (lock.owner ? " has" : " reads");
          to.holder_place = place_of(holders[0]);
          to.is_holder_waiting =
              std::all_of(holders.begin(), holders.end(), [&](u32 holder) { return is_waiting(holder); });
          to.contended_behind = lock.owner ? behind(chains_.from(holders[0])) : "";
        }
  }

  // A thread that waits for another one that waits is usual; a third one is not, and neither is a lock that somebody
  // keeps while waiting for a semaphore.
  void add_chain(HangFacts &to) {
    const std::vector<LockChains::Link> chain = chains_.longest();
    if (chain.size() < 2 || !is_waiting(chain.back().thread))
      return;
    const ThreadWait *last = chains_.wait_of(chain.back().thread);
    const bool is_for_semaphore = last && last->kind == WaitKind::semaphore && !last->has_limit &&
                                  !last->is_limit_unknown && !locks_.collections.contains(last->object);
    if (chain.size() == 2 && !is_for_semaphore)
      return;
    to.chain_threads = chain.size();
    to.chain_text =
        "thread " + text_.short_name(chain[0].thread) + " " + place_of(chain[0].thread) + "; " + behind(chain);
  }

  void add_of_finalizers(HangFacts &to) {
    for (const ThreadWait &wait : found_.waits)
      if (places_.finalizer_thread() == wait.thread)
        if (const LockObject *lock = locks_.find(wait.object); lock && lock->owner)
          to.finalizer_lock_holder = owner_of(*lock);
  }

  // Adds what the end of the process waits for, beyond the words for it.
  void add_of_exit(const ProcessExit &exit, HangFacts &to) {
    to.exit_place = place_of(exit.runner);
    for (const ThreadWait &wait : found_.waits)
      if (exit.runner == wait.thread) {
        const LockObject *lock = locks_.find(wait.object);
        if (lock && lock->owner) {
          to.exit_lock_holder =
              exit.caller == lock->owner ? "thread " + text_.short_name(*lock->owner) : owner_of(*lock);
          if (exit.caller == lock->owner)
            to.exit_sureness = Sureness::certain;
        }
        if (wait.has_limit)
          to.exit_sureness = Sureness::possible;
      }
  }

  // Describes the first of the events that nobody can signal.
  void add_lost(std::span<const LostSignal> lost, HangFacts &to) {
    if (lost.empty())
      return;
    const LostSignal &first = lost.front();
    const std::string type = text_.type_name(first.event);
    to.lost_waiters = first.threads.size();
    to.lost_others = lost.size() - 1;
    to.lost_thread = text_.short_name(first.threads.front());
    to.lost_place = place_of(first.threads.front());
    to.lost_type = type.substr(type.rfind('.') + 1);
    to.lost_missing = first.missing;
  }

  // Returns who has a semaphore, to begin a sentence: "Thread Loader, which sleeps in Shop.Pricing.Load (Cart.cs:41),";
  // an asynchronous call is named by its method.
  std::string of_semaphore(const SemaphoreHolder &holder, const Tasks &tasks) {
    if (holder.thread)
      return "Thread " + text_.short_name(*holder.thread) + ", which " + place_of(*holder.thread) + ",";
    const SourceLine line = await_line(dnheap::frame_of(tasks, holder.task), lines_);
    return method_in_words(holder.method) + line_in_brackets(line);
  }

  // Returns where the first few threads of a circle stand; empty if no stack shows it.
  std::string places_in(const DeadlockText::Circle &circle) {
    constexpr u64 most_places = 4;
    std::string out;
    u64 count = 0;
    for (const WaitingOne &one : circle)
      if (one.thread && count < most_places) {
        const WalkedStack stack = runtime_.walk_stack(locks_.threads[*one.thread]);
        const WaitText wait = wait_of(*one.thread);
        if (places_.shows_method(stack, wait))
          out += (count++ ? "; " : "") + std::string(text_.name(*one.thread).empty() ? "thread " : "") +
                 text_.short_name(*one.thread) + " " + places_.of(stack, wait);
      }
    return out;
  }

private:
  bool is_waiting(u32 thread) const {
    return !waits_[thread].text.empty() ||
           !native_wait_of(runtime_, runtime_.walk_stack(locks_.threads[thread])).empty();
  }

  // Describes the threads behind the first one: "thread Loader has that lock, and sleeps in Shop.Load".
  std::string behind(const std::vector<LockChains::Link> &chain) {
    constexpr u64 most_links = 6;
    std::string out;
    for (u64 i = 1; i < std::min<u64>(chain.size(), most_links); ++i)
      out += fmt::format("{}{}, {} {}", i > 1 ? "; " : "",
                         link_in_words(chain[i - 1].wait->kind, text_.short_name(chain[i].thread)),
                         i + 1 == chain.size() ? "and" : "which", place_of(chain[i].thread));
    return out + (chain.size() > most_links ? "; and so on" : "");
  }

  std::string place_of(u32 thread) { return places_.of(runtime_.walk_stack(locks_.threads[thread]), wait_of(thread)); }

  std::string owner_of(const LockObject &lock) {
    return "thread " + text_.short_name(*lock.owner) +
           (locks_.has_ended(*lock.owner) ? ", which has ended," : ", which " + place_of(*lock.owner) + ",");
  }

  // Returns the owner; else the known readers, those that do not wait for the lock themselves.
  static std::vector<u32> holders_of(const LockObject &lock) {
    if (lock.owner)
      return {*lock.owner};
    std::vector<u32> out;
    std::copy_if(lock.readers.begin(), lock.readers.end(), std::back_inserter(out), [&](u32 reader) {
      return std::find(lock.waiting.begin(), lock.waiting.end(), reader) == lock.waiting.end();
    });
    return out;
  }

  std::string type_of(const LockObject &lock) const {
    const std::string type = text_.type_name(lock.object);
    return lock.kind == LockKind::reader_writer ? type.substr(type.rfind('.') + 1) : type;
  }

  // Returns the wait, if it is known, with the lock's type or the task's method: "a lock (Shop.Account)", "a task
  // (Shop.Cart.Pay)".
  WaitText wait_of(u32 thread) {
    WaitText out = waits_[thread];
    auto wait = std::lower_bound(found_.waits.begin(), found_.waits.end(), thread,
                                 [](const ThreadWait &one, u32 of) { return one.thread < of; });
    const bool is_known = wait != found_.waits.end() && wait->thread == thread;
    if (!is_known || (wait + 1 != found_.waits.end() && (wait + 1)->thread == thread)) // it waits for several
      return out;
    const std::string more = out.text == "a task" && wait->kind == WaitKind::task   ? text_.task_method(wait->object)
                             : out.text == "a lock" && wait->kind == WaitKind::lock ? text_.type_name(wait->object)
                             : wait->kind == WaitKind::semaphore                    ? field_of(wait->object)
                                                                                    : "";
    if (!more.empty() && more != "System.Object")
      out.text += " (" + more + ")";
    return out;
  }

  std::string field_of(Address semaphore) const {
    auto field = found_.fields.find(semaphore);
    return field != found_.fields.end() ? field->second : "";
  }

  const Runtime &runtime_;
  const LockSet &locks_;
  const ThreadWaits &found_;
  DeadlockText &text_;
  const std::span<const WaitText> waits_; // by thread, as `locks` numbers them
  ThreadPlaces &places_;
  SourceLines &lines_;
  const LockChains chains_;
};

// Names the calls for whose tasks most blocked workers of the pool wait, and where these calls are suspended: "11 of
// the tasks are calls of Shop.Orders.LoadAsync (Orders.cs:12)".
std::string tasks_of_workers(const Snapshot &snapshot, const LockSet &locks, const ThreadWaits &waits,
                             const Tasks &tasks, SourceLines &lines) {
  std::map<AsyncFrame, u64> counts;
  std::set<u32> seen; // a thread may wait for several tasks
  for (const ThreadWait &wait : waits.waits) {
    const TaskNumber task = wait.kind == WaitKind::task ? tasks.find(wait.object) : no_task;
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

// Returns ". Await …", for circles that have one way out as a rule; else empty.
std::string advice_for(const DeadlockText::Circle &circle) {
  if (std::ranges::any_of(circle, [](const WaitingOne &one) { return one.is_for_context && !one.thread; }))
    return ". Await that task instead: the thread that blocks is the one that is to run it";
  if (std::ranges::any_of(circle, [](const WaitingOne &one) { return one.is_for_callback && one.thread; }))
    return circle.size() == 1 ? ". Wait for that outside of the callback, or do not wait"
                              : ". Wait for the callback's end without the lock that the callback takes";
  return "";
}

// Returns the threads that wait for a Mutex: methods show a wait handle only.
std::set<u32> waiting_for_mutex(const ThreadWaits &waits) {
  std::set<u32> out;
  for (const ThreadWait &wait : waits.waits)
    if (wait.kind == WaitKind::mutex)
      out.insert(wait.thread);
  return out;
}

// Names the Mutex for which groups of threads wait.
void name_mutexes(const Target &target, const std::set<u32> &threads, std::vector<ThreadGroup> &groups) {
  const std::string name = threads.empty() ? "" : only_named_mutex(target);
  for (ThreadGroup &group : groups)
    if (group.waits_for == "a wait handle" && !group.threads.empty() &&
        std::ranges::all_of(group.threads, [&](u32 thread) { return threads.contains(thread); }))
      group.waits_for = name.empty() ? "a Mutex" : "a Mutex (the only named one here is " + name + ")";
}

// Returns the threads that wait for a Mutex.
std::set<u32> add_deadlocks(const Snapshot &snapshot, Tasks &tasks, std::span<const WaitText> wait_texts,
                            ThreadPlaces &places, SourceLines &lines, const std::optional<ProcessExit> &exit,
                            HangFacts &to) {
  LockSet locks = find_locks(snapshot);
  const ThreadWaits waits = find_waits(snapshot, locks, tasks);
  DeadlockText text(snapshot.runtime(), tasks, locks);
  std::optional<LockHolders> holders; // none if the list of threads was read anew, and is another
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
      to.deadlock_places = holders ? holders->places_in(circle) + advice_for(circle) : "";
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
  return holders ? waiting_for_mutex(waits) : std::set<u32>();
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
  std::set<u32> for_mutex;
  if (looks_for_deadlocks)
    for_mutex = add_deadlocks(snapshot, *tasks, waits, places, lines, exit, out);
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
    name_mutexes(snapshot.target(), for_mutex, standing->threads);
    name_native_places(snapshot, threads, standing->threads);
  }
  if (lists_calls)
    standing->calls =
        group_calls(AsyncStacks(*tasks, pool, snapshot.runtime(), snapshot.threads(), snapshot.watch()).stacks(),
                    FrameworkNames(snapshot.assemblies()));
  return out;
}

} // namespace dnheap
