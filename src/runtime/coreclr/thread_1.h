// Thread contract, version 1: the runtime's thread list and each thread's allocation context.
// Spec: dotnet/runtime docs/design/datacontracts/Thread.md. Reads a few words per thread; the list is capped.
#pragma once
#include "contract/descriptor.h"
#include "runtime/thread_data.h"
#include "runtime/thread_details.h"

namespace dnheap {

class Thread1 {
public:
  Thread1(const Memory &memory, const ContractDescriptor &descriptor) : memory_(&memory), descriptor_(&descriptor) {}

  // In list order. What ends the list early, or cannot be read of a thread, is added to `problems`.
  std::vector<ThreadData> get_threads(std::vector<std::string> &problems) const;

  // What of it the target does not say, or the dump lacks, is absent.
  ThreadDetails get_details(Address thread) const;

  // Where its GCAllocContext lies; 0: it has none.
  Address find_context(Address thread) const;

private:
  // All but its allocation context.
  ThreadData read_thread(Address thread) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
};

} // namespace dnheap
