// The Thread contract's data on a thread, as plain data, for every kind of runtime. Filled by its readers (thread_1.h,
// thread_n1.h); any code may hold it.
#pragma once
#include "contract/descriptor.h"
#include "runtime/facts/gc_data.h"

namespace dnheap {

struct ThreadData {
  Address address = 0; // of the runtime's Thread
  std::optional<u64> os_id;
  std::optional<u64> managed_id; // as in Environment.CurrentManagedThreadId
  // The thread's stack: [stack_limit, stack_base). Absent if the runtime does not publish it.
  std::optional<Address> stack_base, stack_limit;
  AllocationContext allocation_context; // null if the thread has none
  // Bytes that its context has handed out since the thread began, including the unused rest: for small objects, and for
  // all others. Absent if the runtime does not publish them.
  std::optional<u64> alloc_bytes, alloc_bytes_uoh;
};

// Fills in the data of the GCAllocContext at `context`; 0: the thread has none. Throws Error when it cannot be read.
void read_allocation_context(const Memory &memory, const ContractDescriptor &descriptor, Address context,
                             ThreadData &to);

} // namespace dnheap
