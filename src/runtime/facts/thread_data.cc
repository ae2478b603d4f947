#include "runtime/facts/thread_data.h"

namespace dnheap {

void read_allocation_context(const Memory &memory, const ContractDescriptor &d, Address context, ThreadData &to) {
  if (!context)
    return;
  const char *what = "a thread's allocation context";
  to.allocation_context = {memory.pointer(context + static_cast<u64>(d.offset("GCAllocContext", "Pointer")), what),
                           memory.pointer(context + static_cast<u64>(d.offset("GCAllocContext", "Limit")), what)};
  auto bytes = [&](const char *field) {
    std::optional<i64> offset = d.try_offset("GCAllocContext", field);
    return offset ? memory.try_load<u64>(context + static_cast<u64>(*offset)) : std::nullopt;
  };
  to.alloc_bytes = bytes("AllocBytes");
  to.alloc_bytes_uoh = bytes("AllocBytesLoh");
}

} // namespace dnheap
