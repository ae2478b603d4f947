// Many active timers that call the same method.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/timers.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/holding_fields.h"
#include "analysis/shapes/typed_objects.h"
#include "base/share.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

constexpr u64 least_timers = 5000; // delays and time limits of calls are timers, too
constexpr u64 least_large = 1000;  // of timers that hold much

// Timers of one kind that call one method.
struct AlikeTimers {
  u64 count = 0, most = 0; // most: those with the holder that most of them have
  Address example = 0;     // one of these
  std::string held_by;
};

// Returns "Shop.Cart.Pay" if the holder is a variable of that asynchronous method; else empty.
std::string call_that_waits(const std::string &holder) {
  const u64 at = holder.starts_with("variable ") ? holder.find(" of ") : holder.npos;
  return at == holder.npos ? "" : holder.substr(at + 4);
}

// Says what holds the timers, and what ends them. A delay of a task ends by itself, and nobody can dispose of it.
std::string timers_in_words(const std::string &kind, const std::string &callback, const AlikeTimers &of,
                            const std::string &holder) {
  if (!kind.starts_with("Task"))
    return fmt::format(
        "{} timers ({}) are active{}; most are held by {}. A timer lives, and keeps what it calls alive, "
        "until it is disposed of.",
        count_text(of.count), kind, callback.empty() ? "" : " and call " + method_in_words(callback), holder);
  const std::string call = call_that_waits(holder);
  const std::string what =
      call.empty() ? fmt::format("{} timers of {} run; most are held by {}.", count_text(of.count), kind, holder)
      : of.most == of.count ? fmt::format("{} calls of {} wait in {}.", count_text(of.count), call, kind)
                            : fmt::format("{} calls wait in {}, {} of them calls of {}.", count_text(of.count), kind,
                                          count_text(of.most), call);
  return what + " Each stays until its time is over, which a CancellationToken can end sooner; a queue with one timer "
                "needs no call for each.";
}

// Returns what the runtime's timers hold, if it is much, and most of these are the timers; else null.
const Suspect *held_by_timers(const Suspects &suspects, u64 count) {
  constexpr u64 least_bytes = u64{4} << 20;
  constexpr double least_share = 0.1;
  for (const Suspect &one : suspects.list)
    if (one.owner == "the runtime's timers" && one.elements && one.elements / 2 <= count &&
        one.retained >= least_bytes && share_of(one.retained, suspects.live_bytes) >= least_share)
      return &one;
  return nullptr;
}

std::string kept_text(const Suspects &suspects, const Suspect *timers) {
  return timers ? fmt::format(" Together they keep {:.0f} % of live memory ({}).",
                              100 * share_of(timers->retained, suspects.live_bytes), bytes_text(timers->retained))
                : "";
}

} // namespace

void find_kept_timers(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const u64 all = count_called(snapshot, queued_timer);
  if (all < (held_by_timers(evidence.suspects, all) ? least_large : least_timers))
    return;
  std::map<std::pair<std::string, std::string>, AlikeTimers> by_callback; // and kind
  std::map<std::array<std::string, 3>, u64> by_holder;                    // and callback, kind
  u64 unknown = 0;
  for (const auto &[key, group] : find_timers(snapshot, unknown))
    if (key.is_active && key.held_by != HoldingFields::nobody_text) {
      AlikeTimers &sum = by_callback[{key.callback, key.kind}];
      sum.count += group.count;
      if (const u64 alike = by_holder[{key.callback, key.kind, key.held_by}] += group.count; alike > sum.most)
        sum.most = alike, sum.held_by = key.held_by, sum.example = group.example;
    }
  const auto most = std::max_element(by_callback.begin(), by_callback.end(),
                                     [](const auto &a, const auto &b) { return a.second.count < b.second.count; });
  if (most == by_callback.end())
    return;
  const auto &[callback, kind] = most->first;
  const Suspect *timers = held_by_timers(evidence.suspects, most->second.count);
  if (most->second.count < (timers ? least_large : least_timers))
    return;
  out.push_back({.kind = "many_timers",
                 .harm = Harm::resource,
                 .text = timers_in_words(kind, callback, most->second,
                                         holder_in_words(snapshot, most->second.held_by, most->second.example)) +
                         kept_text(evidence.suspects, timers),
                 .count = most->second.count,
                 .bytes = timers ? timers->retained : 0,
                 .example = most->second.example,
                 .verb = "inspect timers"});
}

} // namespace dnheap
