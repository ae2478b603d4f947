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

// Every kind that a Finding may have, and `any_kind`, which stands for all of them.
inline constexpr std::string_view any_kind = "any";
std::vector<std::string_view> finding_kinds();

// "timers, events or native memory": what the rules look at. `without`: one that cannot be judged here.
std::string looked_at(std::string_view without = "");

} // namespace dnheap
