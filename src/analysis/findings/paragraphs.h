// paragraphs_of: returns the paragraphs that `report` begins with: the findings, and among them who holds most of live
// memory, before findings that explain less. Leaves that one out if an earlier finding says the same. Looks at no dump.
// For any number of threads at once.
#pragma once
#include "analysis/findings/finding.h"
#include "analysis/verdict/verdict.h"

#include <string>
#include <vector>

namespace dnheap {

std::vector<Finding> paragraphs_of(std::vector<Finding> findings, const MemoryVerdict &verdict,
                                   const VerdictFacts &facts);

// Adds the code behind who holds most, as code_text() has it, to the sentence about that holder.
MemoryVerdict with_code(MemoryVerdict verdict, std::string code);

} // namespace dnheap
