// DependentHandles: the handles that keep an object alive as long as another one lives: those of ConditionalWeakTables,
// mostly. One read of the handle table. Any thread.
#pragma once
#include "runtime/facts/handle_data.h"
#include "runtime/runtime.h"

#include <vector>

namespace dnheap {

// Returns those that keep something alive; none if the handle table is not found, which the roots report.
std::vector<HandleData> dependent_handles(const Runtime &runtime);

} // namespace dnheap
