// Times of day: when a file was written last, and now, in seconds since 1970 (UTC). A system call each; any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>

namespace dnheap {

// Nothing where there is no such file, or its time is before 1970.
std::optional<u64> modified_at(const std::string &path);
u64 seconds_now();

} // namespace dnheap
