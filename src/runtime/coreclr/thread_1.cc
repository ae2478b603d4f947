#include "runtime/coreclr/thread_1.h"

#include "base/text.h"
#include "runtime/contract_versions.h"

#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 max_threads = 1 << 20;

} // namespace

// .NET 9 on: Thread.RuntimeThreadLocals → AllocContext (→ GCAllocationContext from 10 on). 8.0: inside the Thread. 0:
// it has none.
Address Thread1::find_context(Address thread) const {
  const ContractDescriptor &d = *descriptor_;
  if (std::optional<i64> inline_offset = d.try_offset("Thread", "AllocContext"))
    return thread + static_cast<u64>(*inline_offset);
  std::optional<i64> locals_offset = d.try_offset("Thread", "RuntimeThreadLocals");
  if (!locals_offset)
    return 0;
  Address locals = memory_->pointer(thread + static_cast<u64>(*locals_offset), "Thread.RuntimeThreadLocals");
  return locals ? locals + static_cast<u64>(d.offset("RuntimeThreadLocals", "AllocContext")) +
                      static_cast<u64>(d.try_offset("EEAllocContext", "GCAllocationContext").value_or(0))
                : 0;
}

ThreadDetails Thread1::get_details(Address thread) const {
  auto place = [&](const char *field) -> std::optional<Address> {
    std::optional<i64> offset = descriptor_->try_offset("Thread", field);
    return offset ? std::optional(thread + static_cast<u64>(*offset)) : std::nullopt;
  };
  ThreadDetails out;
  if (std::optional<Address> state = place("State"))
    out.state = memory_->try_load<u32>(*state);
  if (std::optional<Address> disabled = place("PreemptiveGCDisabled"))
    if (std::optional<u32> value = memory_->try_load<u32>(*disabled))
      out.is_cooperative = *value != 0;
  if (std::optional<Address> handle = place("GCHandle"))
    if (std::optional<u64> at = memory_->try_pointer(*handle); at && *at)
      out.object = memory_->try_pointer(*at).value_or(0);
  if (std::optional<u64> finalizer = descriptor_->try_number("FinalizerThread"))
    out.is_finalizer = memory_->try_pointer(*finalizer) == thread;
  return out;
}

std::vector<ThreadData> Thread1::get_threads(std::vector<std::string> &problems) const {
  const ContractDescriptor &d = *descriptor_;
  require_reader(d, "Thread");
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
      read_allocation_context(*memory_, d, find_context(thread.address), thread);
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
