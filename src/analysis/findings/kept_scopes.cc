// Scopes of services that keep what they should have disposed of: the root scope, and scopes that nobody disposes of.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/requests.h"
#include "analysis/inspectors/service_scopes.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/holding_fields.h"
#include "analysis/shapes/typed_objects.h"
#include "base/most_frequent.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_in_root = 500; // objects of one type: a program has fewer singletons of a type
constexpr u64 least_scopes = 500;

} // namespace

void find_kept_scopes(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  if (!count_called(snapshot, service_scope))
    return;
  u64 unknown = 0, open = 0, most_open = 0;
  Address example = 0;
  const ScopeGroups groups = find_service_scopes(snapshot, unknown);
  std::string holder;
  for (const auto &[key, group] : groups) {
    if (key.held_by == HoldingFields::nobody_text || key.state != "in use")
      continue;
    if (key.kind == "scope") {
      open += group.count;
      if (group.count > most_open)
        most_open = group.count, holder = key.held_by, example = group.largest;
      continue;
    }
    if (group.most < least_in_root)
      continue;
    const std::map<Address, u64> types = disposables_by_type(snapshot, group.largest);
    const auto most = most_frequent(types);
    if (most == types.end() || most->second < least_in_root)
      continue;
    const std::string type = brief_type_name(snapshot.runtime().types().name(most->first));
    out.push_back(
        {.kind = "root_scope",
         .harm = Harm::resource,
         .sureness = Sureness::certain,
         .text = fmt::format("The root scope of the container of services keeps {} × {} until the program ends: it "
                             "never lets go of disposable services that it has made. Get them from a scope "
                             "(CreateScope) instead, and dispose of the scope.",
                             count_text(most->second), type),
         .count = most->second,
         .example = group.largest,
         .holder = FieldReader(snapshot.runtime()).reference_or_null(group.largest, "_disposables"),
         .verb = "inspect di"});
  }
  if (open < least_scopes)
    return;
  // A request in flight has a scope of its own.
  const u64 in_flight = find_requests(snapshot)->in_flight();
  if (open >= in_flight + least_scopes)
    out.push_back(
        {.kind = "open_scopes",
         .harm = Harm::resource,
         .text = fmt::format(
             "{} scopes of services were never disposed of{}: {} are held by {}. Each keeps "
             "its services.",
             count_text(open),
             in_flight ? fmt::format(", with {} request{} in flight", count_text(in_flight), in_flight == 1 ? "" : "s")
                       : "",
             most_open == open ? "all" : count_text(most_open), holder_in_words(snapshot, holder, example)),
         .count = open,
         .example = example,
         .verb = "inspect di"});
}

} // namespace dnheap
