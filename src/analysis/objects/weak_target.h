// Finds the target of a WeakReference: the object in its handle, to which no field refers. For `show` and `extract`.
// Not for several threads at once.
#pragma once
#include "runtime/runtime.h"

#include <optional>

namespace dnheap {

bool is_weak_reference(const Runtime &runtime, Address method_table);

// Returns 0 if the target is gone. Nullopt if the object is not a WeakReference, its handle is not in the dump, or its
// handle is a COM handle, which has another target.
std::optional<Address> weak_target(const Runtime &runtime, Address object, Address method_table);

} // namespace dnheap
