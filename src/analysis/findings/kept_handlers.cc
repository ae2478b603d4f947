// Events with very many handlers, which were added and never removed.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/events.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/holding_fields.h"
#include "base/most_frequent.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_handlers = 1000; // of one publisher
constexpr u64 most_events = 3;       // the others are listed by the inspector

} // namespace

void find_kept_handlers(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const FoundEvents events = find_events(snapshot, least_handlers);
  std::vector<Finding> found;
  for (const auto &[key, group] : events.groups) {
    if (key.first == HoldingFields::nobody_text || group.methods.empty())
      continue;
    const auto most = most_frequent(group.methods);
    found.push_back({.kind = "event_handlers",
                     .harm = Harm::resource,
                     .text = fmt::format("{} handlers were added to {}, and not removed: {} × {}. The event keeps each "
                                         "handler's object alive ({} × {}).",
                                         count_text(group.most), holder_in_words(snapshot, key.first, group.largest),
                                         count_text(most->second), method_in_words(most->first.first),
                                         count_text(group.targets.size()),
                                         most->first.second.empty() ? "object" : most->first.second),
                     .count = group.most,
                     .bytes = group.target_bytes,
                     .example = group.largest,
                     .verb = "inspect events"});
  }
  std::stable_sort(found.begin(), found.end(), [](const Finding &a, const Finding &b) { return a.count > b.count; });
  if (found.size() > most_events)
    found.resize(most_events);
  std::move(found.begin(), found.end(), std::back_inserter(out));
}

} // namespace dnheap
