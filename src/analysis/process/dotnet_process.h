// Has a running process a .NET runtime? Told by its memory map and its program's symbols; its memory is not read. Any
// thread.
#pragma once
#include "base/integers.h"

#include <string>
#include <vector>

namespace dnheap {

// `maps`: the text of /proc/PID/maps.
bool has_dotnet(u64 pid, const std::string &maps);
// Their ids, ascending; and of those that this program may not look at. Throws as list_processes() does.
std::vector<u64> dotnet_processes(std::vector<u64> &refused);

} // namespace dnheap
