// Very many subscriptions to a DiagnosticListener, EventListeners, or Meters, that were never disposed of. .NET keeps
// each until then, although the program may have forgotten it.
#include "analysis/findings/gathered/gathered.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/suspects/suspect_code.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_subscriptions = 100; // a program makes each of them once
constexpr const char *subscription = "System.Diagnostics.DiagnosticListener+DiagnosticSubscription";
constexpr const char *meter = "System.Diagnostics.Metrics.Meter";
constexpr const char *dispatcher = "System.Diagnostics.Tracing.EventDispatcher"; // one for each EventListener

// Returns " Their observers are Shop.Tracer."; empty: the first one's is unknown.
std::string observers_sentence(const Snapshot &snapshot, const Suspect &suspect) {
  FieldReader fields(snapshot.runtime());
  const Address observer = fields.reference_or_null(suspect.first ? suspect.first : suspect.example, "Observer");
  const Address type = fields.type_of(observer);
  return type ? fmt::format(" Their observers are {}.", brief_type_name(snapshot.runtime().types().name(type))) : "";
}

std::string subscriptions_text(const Evidence &evidence, const Suspect &one) {
  return fmt::format("{} subscriptions to a DiagnosticListener ({}) were never disposed of, and keep {}.{}{} Dispose "
                     "of what Subscribe returned, or subscribe once.",
                     count_text(one.elements), one.way(), share_text(one, evidence.suspects),
                     observers_sentence(evidence.snapshot, one),
                     calls_sentence(evidence.snapshot, "System.Diagnostics.DiagnosticListener", "Subscribe",
                                    "DiagnosticListener.Subscribe"));
}

std::string listeners_text(const Evidence &evidence, const Suspect &one) {
  return fmt::format("{} EventListeners ({}) were never disposed of, and keep {}: each EventSource that they listen to "
                     "refers to them.{} Dispose of each, or make one for the whole program.",
                     count_text(one.elements), one.brief_element(), share_text(one, evidence.suspects),
                     code_sentence(code_text(evidence.snapshot, one)));
}

// True if the elements are EventListeners: one listener may hold much else.
bool are_listeners(const Snapshot &snapshot, const Suspect &one) {
  if (std::ranges::none_of(one.steps, [](const auto &step) { return step.type == dispatcher; }))
    return false;
  const BaseTypes bases(snapshot.runtime());
  return !types_that(snapshot, [&](Address type) {
            return snapshot.runtime().types().name(type) == one.element &&
                   bases.derives(type, "System.Diagnostics.Tracing.EventListener");
          }).empty();
}

std::string meters_text(const Evidence &evidence, const Suspect &one) {
  return fmt::format(
      "{} Meters{} were never disposed of, and keep {}: .NET has a list of all of them.{} Make each Meter "
      "once, or dispose of it with what it measures.",
      count_text(one.elements), one.remark.empty() ? "" : " (" + one.remark + ")", share_text(one, evidence.suspects),
      code_sentence(code_text(evidence.snapshot, one)));
}

} // namespace

void find_kept_subscriptions(const Evidence &evidence, std::vector<Finding> &out) {
  for (const Suspect &one : evidence.suspects.list) {
    if (one.elements < least_subscriptions || !is_worth_a_reason(one, evidence.suspects))
      continue;
    if (one.element == subscription)
      out.push_back(gathered_finding("kept_subscriptions", Sureness::probable, one, subscriptions_text(evidence, one)));
    else if (one.element == meter)
      out.push_back(gathered_finding("kept_subscriptions", Sureness::probable, one, meters_text(evidence, one)));
    else if (are_listeners(evidence.snapshot, one))
      out.push_back(gathered_finding("kept_subscriptions", Sureness::probable, one, listeners_text(evidence, one)));
  }
}

} // namespace dnheap
