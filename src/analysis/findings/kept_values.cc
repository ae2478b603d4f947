// Values of an AsyncLocal that nothing keeps but the contexts that timers, registrations and the like have captured.
#include "analysis/findings/finding_rule.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/names/compiled_names.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/owners/retained_together.h"
#include "analysis/shapes/captured_values.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_contexts = 100;        // a program has fewer timers that it makes once
constexpr u64 least_value_bytes = 1 << 20; // of all values, with what they retain
constexpr double least_value_share = 0.01; // of live memory

std::string captor_in_words(const Captor &captor) {
  const bool are_timers = is_field_of_timers(captor.field);
  if (!are_timers && !is_field_of_registrations(captor.field))
    return variable_in_words(captor.field);
  return (are_timers ? "timers" : "registrations for cancellation") +
         (captor.calls.empty() ? "" : " that call " + method_in_words(captor.calls));
}

std::string remedy_for(const Captor &captor) {
  return is_field_of_timers(captor.field) ? "Create the timer while ExecutionContext.SuppressFlow() is in effect"
         : is_field_of_registrations(captor.field)
             ? "Register with UnsafeRegister, which captures no context, dispose of the registration"
             : "Create what captures it while ExecutionContext.SuppressFlow() is in effect";
}

} // namespace

void find_kept_values(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  if (count_called(snapshot, execution_context) < least_contexts)
    return;
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(snapshot);
  const DominatorTree &tree = ranked->tree;
  const FoundCaptures found = find_captured_values(snapshot, least_contexts, &tree);
  auto is_worth_a_look = [](const CapturedValues &one) {
    return one.kept_contexts >= least_contexts && one.kept.size() >= least_contexts;
  };
  const u64 least =
      std::max(least_value_bytes, static_cast<u64>(static_cast<double>(tree.reached().bytes) * least_value_share));
  for (const CapturedValues &one : found.groups) {
    const u64 bytes = is_worth_a_look(one) ? retained_together(snapshot, tree, one.kept).bytes : 0;
    if (bytes < least)
      continue;
    out.push_back(
        {.kind = "captured_values",
         .harm = Harm::memory,
         .text = fmt::format("{}{} ExecutionContexts, {}captured by {}, keep {} × {} ({}): values of the AsyncLocal {} "
                             "that nothing else holds. {}, or set the AsyncLocal to null first.",
                             found.is_cut ? "At least " : "", count_text(one.kept_contexts),
                             one.kept_by.contexts == one.kept_contexts ? "" : "most ", captor_in_words(one.kept_by),
                             count_text(one.kept.size()), brief_type_name(one.value_type), bytes_text(bytes),
                             variable_in_words(one.local), remedy_for(one.kept_by)),
         .count = one.kept.size(),
         .bytes = bytes,
         .example = one.example,
         .verb = "inspect asynclocals"});
  }
}

} // namespace dnheap
