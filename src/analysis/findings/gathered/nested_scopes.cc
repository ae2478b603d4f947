// Scopes of a logger, or Activities, that were begun inside of one another, and not ended.
#include "analysis/findings/gathered/gathered.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_scopes = 100; // scopes are within each other as calls are: some deep

bool is_scope(std::string_view type) {
  return type == "Microsoft.Extensions.Logging.LoggerFactoryScopeProvider+Scope" ||
         type == "Microsoft.Extensions.Logging.LoggerExternalScopeProvider+Scope";
}

std::string scopes_text(const Evidence &evidence, const Suspect &one) {
  return fmt::format(
      "{} scopes of loggers are open, each inside of the one before, and keep {}: nobody disposed of "
      "what BeginScope returned.{}{} End each scope: using (logger.BeginScope(…)).",
      count_text(one.elements), share_text(one, evidence.suspects),
      calls_sentence(evidence.snapshot, "Microsoft.Extensions.Logging.ILogger", "BeginScope", "ILogger.BeginScope"),
      calls_sentence(evidence.snapshot, "Microsoft.Extensions.Logging.LoggerExtensions", "BeginScope",
                     "LoggerExtensions.BeginScope"));
}

std::string activities_text(const Evidence &evidence, const Suspect &one) {
  return fmt::format("{} Activities run, each inside of the one before, and keep {}: nobody stopped them.{} Stop or "
                     "dispose of each: using (source.StartActivity(…)).",
                     count_text(one.elements), share_text(one, evidence.suspects),
                     calls_sentence(evidence.snapshot, "System.Diagnostics.ActivitySource", "StartActivity",
                                    "ActivitySource.StartActivity"));
}

} // namespace

void find_nested_scopes(const Evidence &evidence, std::vector<Finding> &out) {
  for (const Suspect &one : evidence.suspects.list) {
    const bool is_activity = one.element == "System.Diagnostics.Activity";
    if (one.kind != Suspect::Kind::chain || one.elements < least_scopes || !(is_activity || is_scope(one.element)) ||
        !is_worth_a_reason(one, evidence.suspects))
      continue;
    out.push_back(gathered_finding("nested_scopes", is_activity ? Sureness::probable : Sureness::certain, one,
                                   is_activity ? activities_text(evidence, one) : scopes_text(evidence, one)));
  }
}

} // namespace dnheap
