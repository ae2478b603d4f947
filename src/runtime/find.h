// Finds the .NET runtimes of a target, of every kind: by a module's name if that is enough, else by what a module
// exports or holds in memory. Costs a look at every module, and one pass over their writable memory.
#pragma once
#include "runtime/hints.h"
#include "runtime/runtime.h"

#include <functional>
#include <memory>

namespace dnheap {

struct FoundRuntime {
  const Module *module = nullptr;
  std::string version; // as Runtime::version()
  // Throws Error when the heap cannot be walked.
  std::function<std::unique_ptr<Runtime>()> open;
};

// Returns the runtimes by kind, then by address.
std::vector<FoundRuntime> find_runtimes(const Target &target, const RuntimeHints &hints = {});

} // namespace dnheap
