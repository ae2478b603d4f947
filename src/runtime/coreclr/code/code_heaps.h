// CodeHeaps: how much code the runtime has compiled at run time, heap by heap, if the target publishes its list of them
// (.NET 11: EEJitManager.AllCodeHeaps). A few loads per heap. Any thread. Spec: dotnet/runtime
// docs/design/datacontracts/ExecutionManager.md; src/coreclr/vm/codeman.h.
#pragma once
#include "base/notes.h"
#include "contract/descriptor.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// The part of a heap that has been handed out to methods and stubs.
struct CodeHeap {
  Address start = 0, end = 0;
  bool operator==(const CodeHeap &) const = default;
};

// Nullopt: the target does not publish them. The reason for a list that ends early is added to `notes`.
std::optional<std::vector<CodeHeap>> find_code_heaps(const Memory &memory, const ContractDescriptor &descriptor,
                                                     Notes &notes);

} // namespace dnheap
