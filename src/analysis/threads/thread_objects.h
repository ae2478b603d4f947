// ThreadObjects: which thread a managed Thread object stands for. One read per thread. Any thread.
#pragma once
#include "runtime/runtime.h"

#include <map>
#include <span>

namespace dnheap {

// Returns the index in the list by the Thread object; threads without one are left out.
std::map<Address, u32> threads_by_object(const Runtime &runtime, std::span<const ThreadData> threads);

} // namespace dnheap
