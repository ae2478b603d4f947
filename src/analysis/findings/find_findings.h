// Finds what is wrong beside crashes, hangs and the use of memory, by the rules of finding_rule.h. Not for several
// threads at once.
#pragma once
#include "analysis/findings/finding_rule.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// Returns findings in the order of the rules.
std::vector<Finding> find_findings(const Evidence &evidence);

// Every kind that a Finding may have, and `any_kind`, which stands for all of them but those that are
// harmless (verdict.h).
inline constexpr std::string_view any_kind = "any";
std::vector<std::string_view> finding_kinds();

// "timers", "events", …: what the rules look at.
std::vector<std::string_view> looked_at();

} // namespace dnheap
