// What the Thread contract says of a thread, as plain data, whatever the kind of runtime. Filled by its readers
// (thread_1.h, thread_n1.h); anybody may hold it.
#pragma once
#include "contract/descriptor.h"
#include "runtime/gc_data.h"

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

} // namespace dnheap
