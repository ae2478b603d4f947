#include "runtime/coreclr/code/code_heaps.h"

#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 most_heaps = 1 << 20, largest = u64{1} << 40;

} // namespace

std::optional<std::vector<CodeHeap>> find_code_heaps(const Memory &memory, const ContractDescriptor &descriptor,
                                                     Notes &notes) {
  const std::optional<u64> variable = descriptor.try_number("EEJitManagerAddress");
  const std::optional<i64> all = descriptor.try_offset("EEJitManager", "AllCodeHeaps"),
                           next = descriptor.try_offset("CodeHeapListNode", "Next"),
                           start = descriptor.try_offset("CodeHeapListNode", "StartAddress"),
                           end = descriptor.try_offset("CodeHeapListNode", "EndAddress");
  if (!variable || !all || !next || !start || !end)
    return std::nullopt;
  auto word = [&](Address at, i64 offset) { return memory.try_pointer(at + static_cast<u64>(offset)); };
  const Address manager = memory.try_pointer(*variable).value_or(0);
  std::optional<u64> node = manager ? word(manager, *all) : std::nullopt;
  std::vector<CodeHeap> out;
  std::unordered_set<Address> seen;
  for (; node && *node && out.size() < most_heaps && seen.insert(*node).second; node = word(*node, *next)) {
    const std::optional<u64> from = word(*node, *start), to = word(*node, *end);
    if (!from || !to || *to < *from || *to - *from > largest)
      break;
    out.push_back({*from, *to});
  }
  if (!node || *node)
    notes.add(Subject::code, Effect::numbers, "the runtime's list of heaps of compiled code breaks off");
  return out;
}

} // namespace dnheap
