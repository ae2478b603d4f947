// Thread contract, version 1: the runtime's thread list and each thread's allocation context.
// Spec: dotnet/runtime docs/design/datacontracts/Thread.md. Reads a few words per thread; the list is capped.
#pragma once
#include "base/notes.h"
#include "contract/descriptor.h"
#include "runtime/facts/thread_data.h"

namespace dnheap {

struct ThreadDetails;

class Thread1 {
public:
  Thread1(const Memory &memory, const ContractDescriptor &descriptor) : memory_(&memory), descriptor_(&descriptor) {}

  // Returns the threads in list order. The reason for a list that ends early, and unreadable parts of a thread, are
  // added to `notes`.
  std::vector<ThreadData> get_threads(Notes &notes) const;

  // Values that the target does not publish, or that are not in the dump, are absent.
  ThreadDetails get_details(Address thread) const;

  // Returns the address of its GCAllocContext; 0: it has none.
  Address find_context(Address thread) const;

private:
  // Reads all but its allocation context.
  ThreadData read_thread(Address thread) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
};

} // namespace dnheap
