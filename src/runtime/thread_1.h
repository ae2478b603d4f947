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
  // What its context handed out since it began, the unused rest included: of small objects, and of all others. Absent
  // where the runtime does not say.
  std::optional<u64> alloc_bytes, alloc_bytes_uoh;
};

// Fills in what the GCAllocContext at `context` says; 0: the thread has none. Throws Error when it cannot be read.
void read_allocation_context(const Memory &memory, const ContractDescriptor &descriptor, Address context,
                             ThreadData &to);

class Thread1 {
public:
  Thread1(const Memory &memory, const ContractDescriptor &descriptor) : memory_(&memory), descriptor_(&descriptor) {}

  // In list order. What ends the list early, or cannot be read of a thread, is added to `problems`.
  std::vector<ThreadData> get_threads(std::vector<std::string> &problems) const;

  // Where its GCAllocContext lies; 0: it has none.
  Address find_context(Address thread) const;

private:
  const Memory *memory_;
  const ContractDescriptor *descriptor_;
};

} // namespace dnheap
