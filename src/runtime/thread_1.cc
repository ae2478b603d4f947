#include "runtime/thread_1.h"

#include "base/text.h"

#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 max_threads = 1 << 20;

} // namespace

// .NET 9 on: Thread.RuntimeThreadLocals → AllocContext (→ GCAllocationContext from 10 on). 8.0: inside the Thread.
AllocationContext Thread1::allocation_context(Address thread) const {
  const ContractDescriptor &d = *descriptor_;
  Address context = 0;
  if (std::optional<i64> inline_offset = d.try_offset("Thread", "AllocContext")) {
    context = thread + static_cast<u64>(*inline_offset);
  } else if (std::optional<i64> locals_offset = d.try_offset("Thread", "RuntimeThreadLocals")) {
    Address locals = memory_->pointer(thread + static_cast<u64>(*locals_offset), "Thread.RuntimeThreadLocals");
    if (!locals)
      return {};
    context = locals + static_cast<u64>(d.offset("RuntimeThreadLocals", "AllocContext")) +
              static_cast<u64>(d.try_offset("EEAllocContext", "GCAllocationContext").value_or(0));
  } else {
    return {};
  }
  return {memory_->pointer(context + static_cast<u64>(d.offset("GCAllocContext", "Pointer")),
                           "a thread's allocation context"),
          memory_->pointer(context + static_cast<u64>(d.offset("GCAllocContext", "Limit")),
                           "a thread's allocation context")};
}

std::vector<ThreadData> Thread1::get_threads(std::vector<std::string> &problems) const {
  const ContractDescriptor &d = *descriptor_;
  Address store = memory_->pointer(d.number("ThreadStore"), "the thread store");
  u64 link = static_cast<u64>(d.offset("Thread", "LinkNext"));
  std::vector<ThreadData> out;
  std::unordered_set<Address> seen;
  Address node =
      memory_->pointer(store + static_cast<u64>(d.offset("ThreadStore", "FirstThreadLink")), "the first thread");
  while (node) {
    if (!seen.insert(node).second || out.size() >= max_threads) {
      problems.push_back("the thread list runs in a circle at " + hex(node));
      break;
    }
    try {
      ThreadData thread;
      thread.address = node - link;
      if (std::optional<i64> id = d.try_offset("Thread", "OSId"))
        thread.os_id = memory_->try_pointer(thread.address + static_cast<u64>(*id));
      if (std::optional<i64> id = d.try_offset("Thread", "Id"))
        thread.managed_id = memory_->try_load<u32>(thread.address + static_cast<u64>(*id));
      if (std::optional<i64> base = d.try_offset("Thread", "CachedStackBase"),
          limit = d.try_offset("Thread", "CachedStackLimit");
          base && limit) {
        thread.stack_base = memory_->try_pointer(thread.address + static_cast<u64>(*base));
        thread.stack_limit = memory_->try_pointer(thread.address + static_cast<u64>(*limit));
      }
      thread.allocation_context = allocation_context(thread.address);
      out.push_back(thread);
      node = memory_->pointer(node, "the next thread");
    } catch (const Error &e) {
      problems.push_back(std::string("the thread list breaks off: ") + e.what());
      break;
    }
  }
  return out;
}

} // namespace dnheap
