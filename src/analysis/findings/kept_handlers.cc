// Events with very many handlers, which were added and never removed. An event whose handlers' objects are alive for
// another reason keeps nothing: cells that listen to the grid which owns them live and die with it.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/events.h"
#include "analysis/names/compiled_names.h"
#include "analysis/owners/held_without.h"
#include "analysis/shapes/holding_fields.h"
#include "base/most_frequent.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_handlers = 1000; // of one publisher
constexpr u64 most_events = 3;       // the others are listed by the inspector

bool is_held_by_somebody(const EventGroups::value_type &one) { return one.first.first != HoldingFields::nobody_text; }

// Returns the objects through which all events together hold their handlers: an object that listens to several of them
// is forgotten, too, if nothing else holds it.
std::vector<Address> delegates_of(const FoundEvents &events) {
  std::vector<Address> out;
  for (const auto &one : events.groups)
    if (is_held_by_somebody(one))
      out.insert(out.end(), one.second.delegates.begin(), one.second.delegates.end());
  return out;
}

// Returns how many handlers' objects only events keep alive.
u64 count_kept(const EventGroup &group, const HeldWithout &others) {
  return static_cast<u64>(std::ranges::count_if(group.targets, [&](Address one) { return !others.is_held(one); }));
}

// Returns how often a handler was added again to an event that had it already.
u64 count_repeated(u64 most_calls, const EventGroup &group) {
  const u64 of_one = std::min(most_calls, group.most);
  return of_one - std::min<u64>(of_one, group.targets.size());
}

} // namespace

void find_kept_handlers(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const FoundEvents events = find_events(snapshot, least_handlers);
  const std::vector<Address> delegates = delegates_of(events);
  if (delegates.empty())
    return;
  const HeldWithout others(snapshot, delegates);
  std::vector<Finding> found;
  for (const auto &one : events.groups) {
    const auto &[key, group] = one;
    if (!is_held_by_somebody(one) || group.methods.empty())
      continue;
    const auto most = most_frequent(group.methods);
    const u64 kept = count_kept(group, others);
    if (kept < least_handlers && count_repeated(most->second, group) < least_handlers)
      continue;
    found.push_back({.kind = "event_handlers",
                     .harm = Harm::resource,
                     .text = fmt::format("{} handlers were added to {}, and not removed: {} × {}. The event keeps each "
                                         "handler's object alive ({} × {}).",
                                         count_text(group.most), holder_in_words(snapshot, key.first, group.largest),
                                         count_text(most->second), method_in_words(most->first.first),
                                         count_text(kept ? kept : group.targets.size()),
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
