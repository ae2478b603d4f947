// Finds what is wrong beside crashes, hangs and the use of memory, by the rules of finding_rule.h. Not for several
// threads at once.
#pragma once
#include "analysis/findings/finding_rule.h"

#include <string>

namespace dnheap {

// Returns findings in the order of the rules.
std::vector<Finding> find_findings(const Evidence &evidence);

// "timers, events or requests": what the rules look at.
std::string looked_at();

} // namespace dnheap
