// paragraphs_of: what the first words of `report` have a paragraph of, each a finding: those that were found, and who
// holds most of live memory, before those that explain less. What an earlier finding says is not said again. Looks at
// no dump. For any number of threads at once.
#pragma once
#include "analysis/findings/finding.h"
#include "analysis/verdict/verdict.h"

#include <vector>

namespace dnheap {

std::vector<Finding> paragraphs_of(std::vector<Finding> findings, const MemoryVerdict &verdict,
                                   const VerdictFacts &facts);

} // namespace dnheap
