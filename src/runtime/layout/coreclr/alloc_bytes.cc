#include "runtime/layout/coreclr/alloc_bytes.h"

namespace dnheap {

namespace {

constexpr u64 most_bytes = u64{1} << 46; // of one thread; heap addresses of 64-bit processes are larger

} // namespace

void derive_alloc_bytes(Derivation &d, std::span<const ContextInUse> contexts) {
  if (contexts.empty())
    return;
  const i64 first = align_up(2 * d.pointer_size, u64{8});
  // True if the field counts what each context handed out; the unused rest is already included in that count.
  auto counts_all = [&](i64 offset) -> Verdict {
    for (const ContextInUse &context : contexts) {
      std::optional<u64> bytes = d.memory.try_load<u64>(context.address + static_cast<u64>(offset));
      if (!bytes)
        return Verdict::cannot_tell();
      if (*bytes < context.unused || *bytes == 0 || *bytes >= most_bytes || *bytes % d.pointer_size)
        return false;
    }
    return true;
  };
  // It follows the two pointers in all versions (gc/gcinterface.h, gc_alloc_context).
  if (!d.choose(
          "GCAllocContext", "AllocBytes", [&] { return std::vector<i64>{first}; }, counts_all,
          "for every thread with an allocation context, it is a possible count of bytes, and no less than the unused "
          "rest of the context"))
    return;
  // The other count follows; most threads have allocated no large object.
  auto counts_large = [&](i64 offset) -> Verdict {
    for (const ContextInUse &context : contexts) {
      std::optional<u64> bytes = d.memory.try_load<u64>(context.address + static_cast<u64>(offset));
      if (!bytes)
        return Verdict::cannot_tell();
      if (*bytes >= most_bytes || *bytes % 8)
        return false;
    }
    return true;
  };
  const i64 next = d.descriptor.offset("GCAllocContext", "AllocBytes") + 8;
  d.choose(
      "GCAllocContext", "AllocBytesLoh", [&] { return std::vector<i64>{next}; }, counts_large,
      "it follows AllocBytes, and is a possible count of bytes for every thread with an allocation context");
}

} // namespace dnheap
