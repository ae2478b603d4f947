// Many active timers that call the same method.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/timers.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/holding_fields.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_timers = 5000; // delays and time limits of calls are timers, too

}

void find_kept_timers(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  if (count_that(snapshot, [&](Address mt) { return snapshot.runtime().types().name(mt) == queued_timer; }) <
      least_timers)
    return;
  struct Sum {
    u64 count = 0, most = 0;
    Address example = 0;
    std::string held_by;
  };
  std::map<std::pair<std::string, std::string>, Sum> by_callback; // and kind
  u64 unknown = 0;
  for (const auto &[key, group] : find_timers(snapshot, unknown))
    if (key.is_active && key.held_by != HoldingFields::nobody_text) {
      Sum &sum = by_callback[{key.callback, key.kind}];
      sum.count += group.count;
      if (group.count > sum.most)
        sum.most = group.count, sum.held_by = key.held_by, sum.example = group.example;
    }
  const auto most = std::max_element(by_callback.begin(), by_callback.end(),
                                     [](const auto &a, const auto &b) { return a.second.count < b.second.count; });
  if (most == by_callback.end() || most->second.count < least_timers)
    return;
  const auto &[callback, kind] = most->first;
  out.push_back({.kind = "many_timers",
                 .harm = Harm::resource,
                 .text = fmt::format("{} timers ({}) are active{}; most are held by {}. A timer lives, and keeps what "
                                     "it calls alive, until it is disposed of.",
                                     count_text(most->second.count), kind,
                                     callback.empty() ? "" : " and call " + method_in_words(callback),
                                     holder_in_words(snapshot, most->second.held_by, most->second.example)),
                 .count = most->second.count,
                 .example = most->second.example,
                 .verb = "inspect timers"});
}

} // namespace dnheap
