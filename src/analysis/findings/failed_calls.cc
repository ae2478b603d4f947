// Calls that failed while nobody looked at their exceptions, where threads or calls of the same class wait for what
// others are to do: the failed call may be the one that was to do it.
#include "analysis/findings/finding_rule.h"
#include "analysis/findings/unseen_failures.h"
#include "analysis/names/compiled_names.h"
#include "analysis/threads/thread_text.h"
#include "analysis/waits/owner_fields.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

// Waits that end only when the program's own code does something.
constexpr std::string_view waits_of_calls[] = {"semaphore", "channel", "TaskCompletionSource", "all of several tasks"};
constexpr std::string_view waits_of_threads[] = {"a semaphore",   wait_for_item,           wait_for_place,
                                                 "an event",      "a countdown",           "a barrier",
                                                 "a wait handle", "a pulse (Monitor.Wait)"};

// The largest group that waits in a method of one of the classes that the exception passed through.
struct WaitsBeside {
  u64 count = 0;
  std::string type; // of that method
  std::string text; // "30 calls of Shop.Intake.WriteAsync wait for a channel"
};

std::string figures(u64 count, const char *what) {
  return fmt::format("{} {}{}", count_text(count), what, count == 1 ? "" : "s");
}

bool is_among(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

WaitsBeside find_waits_beside(const Evidence &evidence, const UnseenFailure &failure) {
  WaitsBeside out;
  const Runtime &runtime = evidence.snapshot.runtime();
  for (const CallGroup &group : evidence.calls)
    if (group.count > out.count && is_among(waits_of_calls, group.waits_for) &&
        failure.classes.contains(type_of_member(group.method)))
      out = {group.count, std::string(type_of_member(group.method)),
             fmt::format("{} of {} {} for {}", figures(group.count, "call"), method_in_words(group.method),
                         group.count == 1 ? "waits" : "wait", awaited_in_words(group.waits_for))};
  for (const ThreadGroup &group : evidence.threads)
    if (group.count > out.count && group.method_desc && is_among(waits_of_threads, group.waits_for) &&
        failure.classes.contains(type_of_member(runtime.method_text(group.method_desc).qualified)))
      out = {group.count, std::string(type_of_member(runtime.method_text(group.method_desc).qualified)),
             fmt::format("{} {} in {}", figures(group.count, "thread"),
                         wait_in_words(group.waits_for, group.count != 1), group.method)};
  return out;
}

} // namespace

void find_failed_calls(const Evidence &evidence, std::vector<Finding> &out) {
  if (evidence.calls.empty() && evidence.threads.empty())
    return;
  for (const UnseenFailure &failure : find_unseen_failures(evidence.snapshot)) {
    const WaitsBeside waits = find_waits_beside(evidence, failure);
    if (!waits.count)
      continue;
    out.push_back(
        {.kind = "failed_calls",
         .harm = Harm::hang,
         .sureness = Sureness::possible,
         .text = fmt::format("{}{} failed with {} in {}, and nobody looked at the exception, while {}, in {}: "
                             "perhaps for what the failed {} to do.",
                             failure.is_at_least ? "At least " : "", figures(failure.count, "call"), failure.type,
                             failure.method, waits.text, failure.words_for(waits.type),
                             failure.count == 1 ? "call was" : "calls were"),
         .count = failure.count,
         .example = failure.exception,
         .verb = "exceptions",
         .options = " " + hex(failure.exception)});
    return; // one is enough: the verb async counts the others
  }
}

} // namespace dnheap
