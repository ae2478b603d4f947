// The status of a Task and of what derives from it, for `show`. A few reads. Not for several threads at once.
#pragma once
#include "analysis/threads/tasks.h"
#include "runtime/runtime.h"

#include <optional>

namespace dnheap {

// Nullopt: the object is no task, or its state is unknown.
std::optional<TaskStatus> task_status(const Runtime &runtime, Address object, Address method_table);

} // namespace dnheap
