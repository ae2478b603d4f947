#include "runtime/vm/hash_table.h"

namespace dnheap {

namespace {

constexpr u64 max_entries = 1 << 24;
constexpr u64 first_chain = 3; // words 1 and 2 of the buckets are for growing

} // namespace

std::optional<HashTableEntries> hash_table_entries(const Memory &memory, Address table, const HashTableLayout &layout) {
  const u64 p = memory.format().pointer_size;
  std::optional<u64> buckets = memory.try_pointer(table + layout.buckets);
  std::optional<u32> count = memory.try_load<u32>(table + layout.count);
  std::optional<u64> size = buckets && *buckets && *buckets % p == 0 ? memory.try_pointer(*buckets) : std::nullopt;
  if (!count || !size || *size == 0 || *size > max_entries || *count > max_entries)
    return std::nullopt;
  HashTableEntries out;
  for (u64 i = 0; i < *size; ++i) {
    std::optional<u64> entry = memory.try_pointer(*buckets + (first_chain + i) * p);
    if (!entry)
      return out;
    while (*entry && *entry % 2 == 0) {
      std::optional<u64> value = memory.try_pointer(*entry + layout.entry_value);
      entry = memory.try_pointer(*entry + layout.next);
      if (!value || !entry || out.values.size() >= *count)
        return out;
      out.values.push_back(*value);
    }
  }
  out.complete = out.values.size() == *count;
  return out;
}

} // namespace dnheap
