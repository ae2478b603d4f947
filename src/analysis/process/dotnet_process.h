// Finds out whether running processes have a .NET runtime, from the files that they have mapped and the symbols of
// their programs; their memory is not read. Any thread.
#pragma once
#include "base/integers.h"

#include <string>
#include <vector>

namespace dnheap {

// True if the process has a .NET runtime. `files`: as loaded_files() says.
bool has_dotnet(u64 pid, const std::vector<std::string> &files);
// Returns the ids of .NET processes, ascending; `refused` gets the ids of those that this program may not look at.
// Throws as list_processes() does.
std::vector<u64> dotnet_processes(std::vector<u64> &refused);

} // namespace dnheap
