// is_system_library(): libraries of the operating system and of C and C++, by file name. What a thread does in them is
// the business of whoever called them. A few comparisons; any thread.
#pragma once
#include <string_view>

namespace dnheap {

// True for files of the system's libraries, which never abort on their own account: C, C++, threads, the loader, the
// kernel's page of functions, and those of Windows.
bool is_system_library(std::string_view file_name);

} // namespace dnheap
