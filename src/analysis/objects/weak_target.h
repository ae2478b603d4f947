// What a WeakReference leads to: the object in its handle, to which no field of it refers. For `show`
// and `extract`. One thread.
#pragma once
#include "runtime/runtime.h"

#include <optional>

namespace dnheap {

bool is_weak_reference(const Runtime &runtime, Address method_table);

// 0: nothing any more. Nullopt: no WeakReference, or its handle is not in the dump, or is one of COM, which leads
// elsewhere.
std::optional<Address> weak_target(const Runtime &runtime, Address object, Address method_table);

} // namespace dnheap
