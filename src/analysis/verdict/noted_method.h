// noted_method(): a call that a NativeAOT program recorded before it ended itself. Any thread.
#pragma once
#include "runtime/facts/crash_info.h"
#include "runtime/runtime.h"

#include <string>

namespace dnheap {

inline constexpr u64 longest_noted = 1024; // of a name that the program recorded

// Returns the method's name: the recorded text may name methods that nothing else names.
std::string noted_method(const Runtime &runtime, const CrashInfo::Frame &frame);

} // namespace dnheap
