// NamedMutex: the name of a named Mutex that the process has opened. On Unix each has a file below .dotnet/shm, which
// the runtime maps, so its path is in the list of mapped files. A look at each mapped file; any thread.
#pragma once
#include "target/target.h"

#include <string>

namespace dnheap {

// Returns "global/acme-export": the place below .dotnet/shm. Empty: the process has none, or several.
std::string only_named_mutex(const Target &target);

} // namespace dnheap
