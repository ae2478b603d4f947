// Thread contract, version 1: the runtime's thread list and each thread's allocation context.
// Spec: dotnet/runtime docs/design/datacontracts/Thread.md. Reads a few words per thread; the list is capped.
#pragma once
#include "contract/descriptor.h"
#include "runtime/gc_1.h"

namespace dnheap {

struct ThreadData {
  Address address = 0; // of the runtime's Thread
  std::optional<u64> os_id;
  std::optional<u64> managed_id; // as Environment.CurrentManagedThreadId says
  // What the thread's stack takes: [stack_limit, stack_base). Absent where the runtime does not say.
  std::optional<Address> stack_base, stack_limit;
  AllocationContext allocation_context; // null when it has none
};

class Thread1 {
public:
  Thread1(const Memory &memory, const ContractDescriptor &descriptor) : memory_(&memory), descriptor_(&descriptor) {}

  // In list order. What ends the list early, or cannot be read of a thread, is added to `problems`.
  std::vector<ThreadData> get_threads(std::vector<std::string> &problems) const;

private:
  AllocationContext allocation_context(Address thread) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
};

} // namespace dnheap
