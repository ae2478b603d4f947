// Many compiled queries of Entity Framework Core that differ in constants only.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/cached_queries.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_queries = 100; // of one form: a program writes each of its queries once

}

void find_kept_queries(const Evidence &evidence, std::vector<Finding> &out) {
  if (count_cache_entries(evidence.snapshot) < least_queries)
    return;
  u64 unknown = 0;
  const std::vector<CachedQueries> all = find_cached_queries(evidence.snapshot, unknown);
  if (all.empty() || all.front().count < least_queries || !all.front().has_constants)
    return;
  const CachedQueries &most = all.front();
  out.push_back({.kind = "query_cache",
                 .harm = Harm::resource,
                 .sureness = Sureness::certain,
                 .text = fmt::format("Entity Framework Core has compiled {} queries that differ in constants only, and "
                                     "caches each: {}. A value that is a variable of the lambda, or EF.Parameter(…), "
                                     "instead of Expression.Constant makes them one query.",
                                     count_text(most.count), most.query),
                 .count = most.count,
                 .example = most.example,
                 .verb = "inspect ef"});
}

} // namespace dnheap
