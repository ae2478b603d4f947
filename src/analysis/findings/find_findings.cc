#include "analysis/findings/find_findings.h"

#include "analysis/names/compiled_names.h"
#include "analysis/names/framework_names.h"
#include "analysis/owners/path_steps.h"
#include "analysis/owners/ranked_paths.h"
#include "analysis/verdict/verdict.h"
#include "objects/object_index.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr FindingRule rules[] = {
    {"", find_memory_limit, {"memory_limit"}},
    {"", find_thread_statics, {"thread_statics"}},
    {"", find_generic_statics, {"generic_statics"}},
    {"", find_unlimited_caches, {"cache_without_limit"}},
    {"", find_interned_strings, {"interned_strings"}},
    {"", find_unidentified_memory, {"unidentified_memory"}},
    {"", find_kept_scopes, {"root_scope", "open_scopes"}},
    {"requests", find_kept_requests, {"ended_requests"}},
    {"", find_waiting_requests, {"waiting_requests"}},
    {"timers", find_kept_timers, {"many_timers"}},
    {"events", find_kept_handlers, {"event_handlers"}},
    {"connections", find_kept_clients, {"http_clients", "db_connections"}},
    {"", find_kept_registrations, {"cancellation_registrations"}},
    {"", find_failed_calls, {"failed_calls"}},
    {"", find_failed_readers, {"failed_reader"}},
    {"", find_kept_values, {"captured_values"}},
    {"", find_kept_entries, {"weak_table", "dependent_handles"}},
    {"", find_kept_queries, {"query_cache"}},
    {"native memory", find_kept_blocks, {"lost_native_memory", "held_native_memory"}},
    {"AssemblyLoadContexts", find_kept_contexts, {"contexts_cannot_unload"}},
    {"open handles", find_open_handles, {"open_handles"}},
    {"emitted assemblies", find_many_emitted, {"made_assemblies"}},
    {"", find_gc_time, {"gc_time"}},
    {"", find_many_exceptions, {"many_exceptions"}},
    {"", find_long_chains, {"long_chains"}},
    {"", find_dead_references, {"dead_references"}},
    {"", find_gc_handles, {"gc_handles"}},
    {"", find_waiting_continuations, {"waiting_continuations"}},
    {"", find_unbounded_queues, {"unbounded_queue"}},
    {"", find_nested_scopes, {"nested_scopes"}},
    {"", find_kept_subscriptions, {"kept_subscriptions"}},
    {"", find_stacked_queries, {"stacked_queries"}},
    {"", find_ended_thread_values, {"ended_thread_values"}},
};

} // namespace

const char *name_of(Harm harm) {
  switch (harm) {
  case Harm::crash: return "crash";
  case Harm::hang: return "hang";
  case Harm::memory: return "memory";
  case Harm::resource: return "resource";
  case Harm::slow: return "slow";
  }
  return "";
}

u8 order_of(const Finding &finding) {
  if (is_harmless_rule(finding.kind))
    return order_of_harmless;
  switch (finding.harm) {
  case Harm::crash: return 0;
  case Harm::hang: return 1;
  case Harm::memory:
    if (finding.kind == "duplicate_data") // a holder of copies is first
      return order_behind_holder;
    return finding.kind == "fragmentation" ? order_behind_holder - 1 : 2; // who pins is first
  case Harm::slow:
    if (finding.sureness != Sureness::possible) // figures, where a holder is a question
      return order_behind_holder - 1;
    break;
  case Harm::resource: break;
  }
  return finding.is_cause ? order_behind_holder - 1 : order_behind_holder + static_cast<u8>(finding.harm);
}

std::string holder_in_words(const Snapshot &snapshot, const std::string &held_by, Address object) {
  if (!held_by.ends_with("[]"))
    return variable_in_words(held_by);
  const std::optional<OwnedPath> path = ranked_paths(snapshot)->find(snapshot.index().find(object));
  if (!path)
    return held_by;
  ObjectView view(snapshot);
  const std::vector<PathSteps> ways = path_steps(snapshot, view, std::span(&*path, 1));
  const FrameworkNames framework(snapshot.assemblies());
  const std::vector<PathStep> &steps = ways.front().steps;
  for (u64 i = steps.size(); i-- > 1;)
    if (!framework.contain(steps[i - 1].type) && steps[i].folded.starts_with('.'))
      return variable_in_words(steps[i - 1].type + steps[i].folded);
  return ways.front().owner;
}

std::vector<Finding> find_findings(const Evidence &evidence) {
  std::vector<Finding> out;
  for (const FindingRule &rule : rules) {
    evidence.snapshot.watch().check();
    rule.find(evidence, out);
  }
  return out;
}

std::vector<std::string_view> looked_at() {
  std::vector<std::string_view> out;
  for (const FindingRule &rule : rules)
    if (*rule.looks_at)
      out.emplace_back(rule.looks_at);
  return out;
}

std::vector<std::string_view> finding_kinds() {
  std::vector<std::string_view> out = {any_kind, "crash"};
  for (const std::string_view rule : fault_rules())
    out.push_back(rule);
  for (const FindingRule &rule : rules)
    for (const std::string_view kind : rule.kinds)
      if (std::ranges::find(out, kind) == out.end()) // some are a verdict's, too
        out.push_back(kind);
  return out;
}

} // namespace dnheap
