// The runtime's hash tables of types, as a debugger enumerates them: {…, Buckets, u32 Count}; the first word of Buckets
// is their number, chains begin in the fourth, and a chain ends with an odd value. Spec: dotnet/runtime
// docs/design/datacontracts/Loader.md, GetAvailableTypeParams; structure: src/coreclr/vm/dacenumerablehash.h. One pass;
// any thread.
#pragma once
#include "target/memory.h"

#include <vector>

namespace dnheap {

struct HashTableLayout {
  u64 buckets, count;    // in the table
  u64 entry_value, next; // in an entry
};
// The layout of .NET 8 to 10.
constexpr HashTableLayout hash_table_layout(u64 pointer_size) {
  return {2 * pointer_size, 3 * pointer_size, 0, pointer_size};
}

struct HashTableEntries {
  std::vector<u64> values;
  bool complete = false; // as many as the table's own count
};

// Nullopt if no table can lie there.
std::optional<HashTableEntries> hash_table_entries(const Memory &memory, Address table, const HashTableLayout &layout);

} // namespace dnheap
