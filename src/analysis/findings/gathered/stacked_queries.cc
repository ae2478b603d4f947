// Queries of LINQ that were built upon themselves again and again: none is ever evaluated for good.
#include "analysis/findings/gathered/gathered.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

void find_stacked_queries(const Evidence &evidence, std::vector<Finding> &out) {
  for (const Suspect &one : evidence.suspects.list) {
    if (one.kind != Suspect::Kind::chain || one.elements < least_gathered ||
        !one.element.starts_with("System.Linq.Enumerable+") || !is_worth_a_reason(one, evidence.suspects))
      continue;
    out.push_back(gathered_finding(
        "stacked_queries", Sureness::certain, one,
        fmt::format("{} operators of LINQ ({}) are built one upon the other in {}, and keep {}: whoever enumerates the "
                    "last one calls all of them. Keep results, not queries: call ToList or ToArray where it is "
                    "assigned.",
                    count_text(one.elements), one.brief_element(), one.way(), share_text(one, evidence.suspects))));
  }
}

} // namespace dnheap
