// Scopes of a logger that were begun inside of one another, and not disposed of.
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

} // namespace

void find_open_log_scopes(const Evidence &evidence, std::vector<Finding> &out) {
  for (const Suspect &one : evidence.suspects.list) {
    if (one.kind != Suspect::Kind::chain || one.elements < least_scopes || !is_scope(one.element) ||
        !is_worth_a_reason(one, evidence.suspects))
      continue;
    out.push_back(gathered_finding(
        "open_log_scopes", Sureness::certain, one,
        fmt::format("{} scopes of loggers are open, each inside of the one before, and keep {}: nobody disposed of "
                    "what BeginScope returned.{} End each scope: using (logger.BeginScope(…)).",
                    count_text(one.elements), share_text(one, evidence.suspects),
                    calls_sentence(evidence.snapshot, "Microsoft.Extensions.Logging.ILogger", "BeginScope",
                                   "ILogger.BeginScope") +
                        calls_sentence(evidence.snapshot, "Microsoft.Extensions.Logging.LoggerExtensions", "BeginScope",
                                       "LoggerExtensions.BeginScope"))));
  }
}

} // namespace dnheap
