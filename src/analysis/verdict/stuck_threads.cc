#include "analysis/verdict/stuck_threads.h"

#include "analysis/names/compiled_names.h"
#include "analysis/names/source_line_text.h"
#include "analysis/threads/async_stacks.h"
#include "base/text.h"
#include "runtime/facts/thread_details.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

// Returns "Await …", for circles that have one way out as a rule; else empty.
std::string_view advice_for(const DeadlockText::Circle &circle, const LockSet &locks) {
  if (std::ranges::any_of(circle, [](const WaitingOne &one) { return one.is_for_context && !one.thread; }))
    return "Await that task instead: the thread that blocks is the one that is to run it";
  if (std::ranges::any_of(circle, [](const WaitingOne &one) { return one.is_for_callback && one.thread; }))
    return circle.size() == 1 ? "Wait for that outside of the callback, or do not wait"
                              : "Wait for the callback's end without the lock that the callback takes";
  if (circle.size() == 1 && DeadlockText::waits_for_an_end(circle.front()))
    return "Do not join a thread in a method that may run on it";
  if (std::ranges::any_of(circle, [&](const WaitingOne &one) { return locks.constructed.contains(one.waits_for); }))
    return "Do not wait for other threads in a static constructor: they wait for its end";
  const auto threads = std::ranges::count_if(circle, [](const WaitingOne &one) { return one.thread.has_value(); });
  const auto takes = std::ranges::count_if(circle, [&](const WaitingOne &one) {
    return locks.find(one.waits_for) && !locks.collections.contains(one.waits_for);
  });
  const auto all = static_cast<std::ptrdiff_t>(circle.size());
  if (threads == all && takes == all && all > 1)
    return "Take these locks in the same order everywhere";
  const bool is_for_task = std::ranges::any_of(
      circle, [&](const WaitingOne &one) { return one.thread && one.waits_for && !locks.find(one.waits_for); });
  if (is_for_task && takes > 0)
    return "Do not wait for a task inside of a lock that the task takes";
  if (takes > 0 && std::ranges::any_of(circle, DeadlockText::waits_for_an_end))
    return "Do not wait for the end of a thread inside of a lock that the thread takes";
  return !threads && takes == 1 ? "A SemaphoreSlim is not reentrant: inside of it, call a method that does not take it "
                                  "again"
                                : "";
}

} // namespace

StuckThreads::StuckThreads(const Runtime &runtime, const LockSet &locks, const ThreadWaits &found, DeadlockText &text,
                           std::span<const WaitText> waits, ThreadPlaces &places, SourceLines &lines)
    : runtime_(runtime), locks_(locks), found_(found), text_(text), waits_(waits), places_(places), lines_(lines),
      chains_(runtime, locks, found) {}

void StuckThreads::add_contended(HangFacts &to) {
  for (const LockObject &lock : locks_.locks)
    if (lock.is_held && !locks_.is_orphaned(lock) && lock.waiting.size() > to.contenders)
      if (const std::vector<u32> holders = holders_of(lock); !holders.empty()) {
        to.contenders = lock.waiting.size();
        to.contended_text = type_of(lock);
        to.contended_by = "thread " + text_.names().short_name(holders[0]) +
                          (holders.size() > 1 ? fmt::format(" (and {} more)", count_text(holders.size() - 1)) : "") +
                          (lock.owner ? " has" : " reads");
        to.holder_place = place_of(holders[0]);
        to.is_holder_waiting =
            std::all_of(holders.begin(), holders.end(), [&](u32 holder) { return is_waiting(holder); });
        to.contended_behind = lock.owner ? behind(chains_.from(holders[0])) : "";
      }
}

void StuckThreads::add_chain(HangFacts &to) {
  const std::vector<LockChains::Link> chain = chains_.longest();
  if (chain.size() < 2 || !is_waiting(chain.back().thread))
    return;
  const ThreadWait *last = chains_.wait_of(chain.back().thread);
  const bool is_for_semaphore = last && last->kind == WaitKind::semaphore && !last->has_limit &&
                                !last->is_limit_unknown && !locks_.collections.contains(last->object);
  const bool keeps_lock = chain.front().wait->kind != WaitKind::join; // a joined thread has taken nothing
  if (chain.size() == 2 && (!is_for_semaphore || !keeps_lock))
    return;
  to.chain_threads = chain.size();
  to.chain_text =
      "thread " + text_.names().short_name(chain[0].thread) + " " + place_of(chain[0].thread) + "; " + behind(chain);
}

void StuckThreads::add_of_finalizers(HangFacts &to) {
  for (const ThreadWait &wait : found_.waits)
    if (places_.finalizer_thread() == wait.thread)
      if (const LockObject *lock = locks_.find(wait.object); lock && lock->owner)
        to.finalizer_lock_holder = owner_of(*lock);
}

void StuckThreads::add_of_exit(const ProcessExit &exit, HangFacts &to) {
  to.exit_place = place_of(exit.runner);
  for (const ThreadWait &wait : found_.waits)
    if (exit.runner == wait.thread) {
      const LockObject *lock = locks_.find(wait.object);
      if (lock && lock->owner) {
        to.exit_lock_holder =
            exit.caller == lock->owner ? "thread " + text_.names().short_name(*lock->owner) : owner_of(*lock);
        if (exit.caller == lock->owner)
          to.exit_sureness = Sureness::certain;
      }
      if (wait.has_limit)
        to.exit_sureness = Sureness::possible;
    }
}

void StuckThreads::add_lost(std::span<const LostSignal> lost, HangFacts &to) {
  if (lost.empty())
    return;
  const LostSignal &first = lost.front();
  auto part = locks_.collections.find(first.event);
  const bool is_of_collection = part != locks_.collections.end();
  const std::string type = text_.type_name(is_of_collection ? part->second.collection : first.event);
  to.lost_waiters = first.threads.size();
  to.lost_others = lost.size() - 1;
  to.lost_thread = text_.names().short_name(first.threads.front());
  to.lost_place = place_of(first.threads.front());
  to.lost_type = type.substr(type.substr(0, type.find('<')).rfind('.') + 1);
  to.lost_missing = first.missing;
  to.lost = is_of_collection ? (part->second.is_for_place ? HangFacts::Lost::place : HangFacts::Lost::item)
            : first.kind == WaitKind::pulse     ? HangFacts::Lost::pulse
            : first.kind == WaitKind::semaphore ? HangFacts::Lost::semaphore
                                                : HangFacts::Lost::event;
  to.has_lost_followers = first.has_followers;
}

std::string StuckThreads::of_semaphore(const SemaphoreHolder &holder, const Tasks &tasks) {
  if (holder.thread)
    return "Thread " + text_.names().short_name(*holder.thread) + ", which " + place_of(*holder.thread) + ",";
  const SourceLine line = await_line(dnheap::frame_of(tasks, holder.task), lines_);
  return method_in_words(holder.method) + line_in_brackets(line);
}

std::string StuckThreads::places_in(const DeadlockText::Circle &circle, const Tasks &tasks) {
  constexpr u64 most_places = 4;
  std::string out;
  u64 count = 0;
  for (u64 i = 0; i < circle.size() && count < most_places; ++i)
    if (const std::string place = circle[i].thread ? place_of_member(*circle[i].thread) : call_of(circle, i, tasks);
        !place.empty())
      out += (count++ ? "; " : "") + place;
  out = as_sentence(std::move(out));
  const std::string_view advice = advice_for(circle, locks_);
  return advice.empty() ? out : fmt::format("{}{}{}", out, out.empty() ? "" : ". ", advice);
}

std::string StuckThreads::place_of_member(u32 thread) {
  const WalkedStack stack = runtime_.walk_stack(locks_.threads[thread]);
  const WaitText wait = wait_of(thread);
  return !places_.shows_method(stack, wait) ? "" : text_.names().called(thread) + " " + places_.of(stack, wait);
}

std::string StuckThreads::call_of(const DeadlockText::Circle &circle, u64 i, const Tasks &tasks) {
  const WaitingOne &one = circle[i], &next = DeadlockText::one_after(circle, i);
  const LockObject *lock = locks_.find(one.waits_for);
  const std::string method = text_.task_method(one.task);
  if (!lock || lock->kind != LockKind::semaphore || locks_.collections.contains(one.waits_for) || method.empty())
    return "";
  auto line_of = [&](Address task) {
    const TaskNumber number = tasks.behind(task);
    return number == no_task ? "" : line_in_brackets(await_line(dnheap::frame_of(tasks, number), lines_));
  };
  const std::string field = field_of(one.waits_for);
  std::string out = fmt::format("{}{} waits for a SemaphoreSlim{}", method, line_of(one.task),
                                field.empty() ? "" : " (" + field + ")");
  if (const std::string holder = next.task ? text_.task_method(next.task) : ""; !holder.empty())
    out += fmt::format(", which {}{} {}", holder, next.task == one.task ? "" : line_of(next.task),
                       one.grounds > Grounds::passed_wait ? "seems to have taken" : "has taken");
  return out;
}

bool StuckThreads::is_waiting(u32 thread) const {
  return !waits_[thread].text.empty() || !native_wait_of(runtime_, runtime_.walk_stack(locks_.threads[thread])).empty();
}

std::string StuckThreads::behind(const std::vector<LockChains::Link> &chain) {
  constexpr u64 most_links = 6;
  std::string out;
  for (u64 i = 1; i < std::min<u64>(chain.size(), most_links); ++i)
    out += fmt::format("{}{}, {} {}", i > 1 ? "; " : "",
                       link_in_words(chain[i - 1].wait->kind, text_.names().short_name(chain[i].thread)),
                       i + 1 == chain.size() ? "and" : "which", place_of(chain[i].thread));
  return out + (chain.size() > most_links ? "; and so on" : "");
}

std::string StuckThreads::place_of(u32 thread) {
  return places_.of(runtime_.walk_stack(locks_.threads[thread]), wait_of(thread));
}

std::string StuckThreads::owner_of(const LockObject &lock) {
  return "thread " + text_.names().short_name(*lock.owner) +
         (locks_.has_ended(*lock.owner) ? ", which has ended," : ", which " + place_of(*lock.owner) + ",");
}

std::vector<u32> StuckThreads::holders_of(const LockObject &lock) {
  if (lock.owner)
    return {*lock.owner};
  std::vector<u32> out;
  std::copy_if(lock.readers.begin(), lock.readers.end(), std::back_inserter(out), [&](u32 reader) {
    return std::find(lock.waiting.begin(), lock.waiting.end(), reader) == lock.waiting.end();
  });
  return out;
}

std::string StuckThreads::type_of(const LockObject &lock) const {
  const std::string type = text_.type_name(lock.object);
  return lock.kind == LockKind::reader_writer ? type.substr(type.rfind('.') + 1) : type;
}

WaitText StuckThreads::wait_of(u32 thread) {
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

std::string StuckThreads::field_of(Address semaphore) const {
  auto field = found_.fields.find(semaphore);
  return field != found_.fields.end() ? field->second : "";
}

} // namespace dnheap
