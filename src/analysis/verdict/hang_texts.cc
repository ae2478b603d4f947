#include "analysis/verdict/hang_texts.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

// What most blocked workers wait for (a text of waits_for()), and what the program can do instead.
struct Advice {
  std::string_view wait, text;
};
constexpr Advice advices[] = {
    {"a task", "Await the task instead: a worker that waits runs none of the items, and one of these may be what "
               "completes the task."},
    {"sleep", "Await Task.Delay instead: a worker that sleeps runs none of the items."},
    {"a semaphore", "Await SemaphoreSlim.WaitAsync instead: a worker that waits runs none of the items."},
};

std::string_view advice_for(const PoolStands &pool) {
  auto most = std::ranges::max_element(pool.waits, {}, [](const auto &one) { return one.second; });
  auto found = most == pool.waits.end()
                   ? std::end(advices)
                   : std::ranges::find_if(advices, [&](const Advice &one) { return one.wait == most->first; });
  return found != std::end(advices) ? found->text : "";
}

// Returns how the pool starves. Where all blocked workers stand at one place, its sentence says what they wait for.
std::string starved_text(const HangFacts &f) {
  std::string out = f.pool.starved_text();
  const std::string waits = ": " + f.pool.text();
  const bool is_one_place = f.pool.waits.size() == 1 && f.pool_place.starts_with(count_text(f.pool.blocked) + " ");
  if (const auto at = out.find(waits); is_one_place && at != out.npos)
    out.erase(at, waits.size());
  return out;
}

constexpr const char *ended_with_exception =
    "Perhaps the code that was to do so ended with an exception, or runs only after this wait.";

// How a signal that does not come is described: HangFacts::Lost.
struct LostWords {
  const char *one, *state, *signal, *advice;
};
constexpr LostWords words_of_lost[] = {
    {"one", "it is not set", "signal it", ended_with_exception},
    {"a pulse of one", "", "pulse it",
     "A pulse that comes before the wait is lost: look at the state first, and wait only while it is not as it should "
     "be (while (…) Monitor.Wait(…))."},
    {"one", "none is free", "release it",
     "Perhaps a method that took it left without Release, as with an exception: release it in a finally."},
    {"a free place in one", "it is full", "take from it", ended_with_exception},
    {"an item in one", "it is empty", "add to it",
     "Perhaps the code that was to do so ended with an exception, or without CompleteAdding."}};

// Returns who has the lock for which workers wait, where no finding of its own says so.
std::string lock_of_workers(const HangFacts &f) {
  const bool is_for_lock = std::ranges::any_of(f.pool.waits, [](const auto &one) { return one.first == "a lock"; });
  if (!is_for_lock || f.deadlocks || f.contenders < 2 || f.contenders >= least_contenders)
    return "";
  const bool begins = f.contended_by.starts_with("thread ");
  return fmt::format("{}{} the lock ({}) for which {} threads wait, and {}{}", begins ? "T" : "",
                     begins ? f.contended_by.substr(1) : f.contended_by, f.contended_text, count_text(f.contenders),
                     f.holder_place, f.contended_behind.empty() ? "" : "; " + f.contended_behind);
}

std::string sentence(const std::string &text) { return text.empty() ? "" : " " + text + "."; }

} // namespace

std::string pool_text(const HangFacts &f) {
  if (!f.pool.blocked)
    return fmt::format("The thread pool has more work than workers: {}{}.{} That is a hang only if no worker ever "
                       "finishes its work.",
                       f.pool.starved_text(), f.pool_place.empty() ? "" : ": " + f.pool_place, sentence(f.pool_work));
  const std::string_view advice = advice_for(f.pool);
  return fmt::format("The thread pool starves: {}.{}{}{}{}{}", starved_text(f), sentence(f.pool_place),
                     sentence(lock_of_workers(f)), sentence(f.pool_tasks), sentence(f.pool_work),
                     advice.empty() || (f.pool_place.empty() && f.pool_work.empty()) ? "" : " " + std::string(advice));
}

std::string contended_text(const HangFacts &f) {
  return fmt::format(
      "{} thread{} for a lock ({}) that {}, which {}{}. They go on when {}. Keep what takes long out of the lock.",
      count_text(f.contenders), f.contenders == 1 ? " waits" : "s wait", f.contended_text, f.contended_by,
      f.holder_place, f.contended_behind.empty() ? "" : "; " + f.contended_behind,
      f.contended_behind.empty() ? "it lets go" : "the last of these does");
}

std::string chain_text(const HangFacts &f) {
  return fmt::format("{} threads wait one behind the other: {}. All go on only when the last one does.",
                     count_text(f.chain_threads), f.chain_text);
}

std::string lost_text(const HangFacts &f) {
  const LostWords &words = words_of_lost[static_cast<u8>(f.lost)];
  std::string out = f.lost_waiters == 1
                        ? fmt::format("Thread {} {}", f.lost_thread, f.lost_place)
                        : fmt::format("{} threads wait for {} {}; thread {} {}", count_text(f.lost_waiters), words.one,
                                      f.lost_type, f.lost_thread, f.lost_place);
  out +=
      fmt::format(": {}{}{} {} to the {}, so nobody can {}. {}", f.lost_missing.empty() ? words.state : f.lost_missing,
                  f.lost_missing.empty() && !*words.state ? "" : ", and ",
                  f.has_lost_followers ? "only threads that wait behind these" : "nothing else in the process",
                  f.has_lost_followers ? "refer" : "refers", f.lost_type, words.signal, words.advice);
  return out + (f.lost_others ? fmt::format(" The same is true of {} more.", count_text(f.lost_others)) : "");
}

std::string console_text(const HangFacts &f) {
  return fmt::format("{} thread{} until the console takes their output (one {}), which {} writes: whoever reads the "
                     "program's standard output does not, or reads too slowly. Read it, or write less; a console "
                     "logger can drop messages instead (ConsoleLoggerOptions.QueueFullMode).",
                     count_text(f.console_waiters), f.console_waiters == 1 ? " waits" : "s wait", f.console_place,
                     f.console_writer);
}

} // namespace dnheap
