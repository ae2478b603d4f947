#include "runtime/coreclr/threads/thread_1.h"

#include "base/missing_value.h"
#include "base/text.h"
#include "runtime/contract_versions.h"
#include "runtime/facts/thread_details.h"
#include "runtime/vm/thread_list.h"

namespace dnheap {

// .NET 9 and later: Thread.RuntimeThreadLocals → AllocContext (→ GCAllocationContext in 10 and later). 8.0: inside the
// Thread. 0: it has none.
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
  // Thread.ExposedObject is a handle. .NET 11 gave it that name; earlier versions publish it as GCHandle.
  if (std::optional<Address> handle = place("ExposedObject"))
    if (std::optional<u64> at = memory_->try_pointer(*handle); at && *at)
      out.object = memory_->try_pointer(*at).value_or(0);
  if (std::optional<u64> finalizer = descriptor_->try_number("FinalizerThread"))
    out.is_finalizer = memory_->try_pointer(*finalizer) == thread;
  return out;
}

std::vector<ThreadData> Thread1::get_threads(Notes &notes) const {
  const ContractDescriptor &d = *descriptor_;
  require_reader(d, "Thread");
  const Address store = memory_->pointer(d.number("ThreadStore"), "the thread store");
  std::optional<u64> count;
  if (std::optional<i64> at = d.try_offset("ThreadStore", "ThreadCount"))
    count = memory_->try_load<u32>(store + static_cast<u64>(*at));
  const ThreadList list =
      read_thread_list(*memory_, store + static_cast<u64>(d.offset("ThreadStore", "FirstThreadLink")),
                       static_cast<u64>(d.offset("Thread", "LinkNext")), count);
  if (!list.broken_by.empty())
    notes.add(Subject::threads, Effect::liveness, list.broken_by);
  else if (count && !list.is_counted)
    notes.add(Subject::threads, Effect::liveness,
              "the thread list has " + count_text(list.threads.size()) + " threads, and the runtime counts " +
                  count_text(*count));
  std::vector<ThreadData> out;
  u64 without_context = 0;
  std::string why, missing; // of the first
  for (Address at : list.threads) {
    ThreadData &thread = out.emplace_back(read_thread(at));
    try {
      read_allocation_context(*memory_, d, find_context(at), thread);
    } catch (const Error &e) {
      if (!without_context++)
        why = e.what(), missing = name_of_missing(e);
    }
  }
  if (without_context)
    notes.add({.subject = Subject::threads,
               .effect = Effect::liveness,
               .text = "the allocation contexts of " + count_text(without_context) + " of " + count_text(out.size()) +
                       " threads are missing: " + why,
               .key = missing});
  return out;
}

ThreadData Thread1::read_thread(Address at) const {
  const ContractDescriptor &d = *descriptor_;
  ThreadData thread;
  thread.address = at;
  if (std::optional<i64> id = d.try_offset("Thread", "OSId"))
    thread.os_id = memory_->try_pointer(at + static_cast<u64>(*id));
  if (std::optional<i64> id = d.try_offset("Thread", "Id"))
    thread.managed_id = memory_->try_load<u32>(at + static_cast<u64>(*id));
  if (std::optional<i64> base = d.try_offset("Thread", "CachedStackBase"),
      limit = d.try_offset("Thread", "CachedStackLimit");
      base && limit) {
    thread.stack_base = memory_->try_pointer(at + static_cast<u64>(*base));
    thread.stack_limit = memory_->try_pointer(at + static_cast<u64>(*limit));
  }
  return thread;
}

} // namespace dnheap
