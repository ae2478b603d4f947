// ConditionObjects: NativeAOT keeps the Condition of an object on which threads wait for a pulse (Monitor.Wait) in a
// ConditionalWeakTable, so only a dependent handle leads from the object to it. Reads the dependent handles, once. Not
// for several threads at once.
#pragma once
#include "analysis/waits/kinds/wait_targets.h"

namespace dnheap {

// Adds the objects whose Monitors the locks of such Conditions are.
void add_condition_objects(const Runtime &runtime, WaitTargets &to);

} // namespace dnheap
