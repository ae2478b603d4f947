#include "runtime/nativeaot/thread_n1.h"

#include "base/text.h"
#include "runtime/contract_versions.h"
#include "runtime/list_walk.h"

namespace dnheap {

namespace {

constexpr u64 max_threads = 1 << 20;

} // namespace

std::vector<ThreadData> ThreadN1::get_threads(Notes &notes) const {
  const ContractDescriptor &d = *descriptor_;
  require_reader(d, "Thread");
  auto at = [&](const char *type, const char *field) { return static_cast<u64>(d.offset(type, field)); };
  const u64 next = at("Thread", "LinkNext");
  // The first builds with a descriptor publish the part of the thread that contains the context.
  const u64 context = (d.find_field("Thread", "AllocContext") || !d.find_field("Thread", "RuntimeThreadLocals")
                           ? at("Thread", "AllocContext")
                           : at("Thread", "RuntimeThreadLocals") + at("RuntimeThreadLocals", "AllocContext")) +
                      static_cast<u64>(d.try_offset("EEAllocContext", "GCAllocationContext").value_or(0));
  const Field *id = d.find_field("Thread", "OSId");
  Address store = memory_->pointer(d.number("ThreadStore"), "the thread store");
  Address thread = memory_->pointer(store + at("ThreadStore", "FirstThreadLink"), "the first thread");
  std::vector<ThreadData> out;
  ListWalk list(max_threads);
  while (thread) {
    if (const std::string why = list.why_not(thread); !why.empty()) {
      notes.add(Subject::threads, Effect::liveness, "the thread list " + why);
      break;
    }
    try {
      ThreadData data;
      data.address = thread;
      if (id)
        data.os_id = id->type == "uint64" ? memory_->try_load<u64>(thread + static_cast<u64>(id->offset))
                                          : memory_->try_pointer(thread + static_cast<u64>(id->offset));
      read_allocation_context(*memory_, d, thread + context, data);
      if (std::optional<i64> base = d.try_offset("Thread", "CachedStackBase"),
          stack_limit = d.try_offset("Thread", "CachedStackLimit");
          base && stack_limit) {
        data.stack_base = memory_->try_pointer(thread + static_cast<u64>(*base));
        data.stack_limit = memory_->try_pointer(thread + static_cast<u64>(*stack_limit));
      }
      out.push_back(data);
      thread = memory_->pointer(thread + next, "the next thread");
    } catch (const Error &e) {
      notes.add(Subject::threads, Effect::liveness, "the thread list breaks off: ", e);
      break;
    }
  }
  return out;
}

} // namespace dnheap
