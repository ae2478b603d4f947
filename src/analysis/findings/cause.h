// Cause: whether a finding says why somebody holds much of live memory: the objects that it is about are most of what a
// suspect holds. Costs a look at the snapshot's ranked tree. Throws Interrupted. Not for several threads at once.
#pragma once
#include "analysis/findings/finding.h"
#include "analysis/suspects/suspects.h"
#include "snapshot/snapshot.h"

#include <vector>

namespace dnheap {

// Marks the findings that are the cause of a suspect with a tenth of live memory or more.
void find_causes(const Snapshot &snapshot, const Suspects &suspects, std::vector<Finding> &findings);

} // namespace dnheap
