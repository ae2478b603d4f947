// Times in seconds since 1970 (UTC): when a file was last written, and now; and the time since the system's start. A
// system call each; any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>

namespace dnheap {

// Nullopt if there is no such file, or its time is before 1970.
std::optional<u64> modified_at(const std::string &path);
u64 seconds_now();
// Milliseconds since the system's start, as .NET counts its ticks.
u64 ticks_now();

} // namespace dnheap
