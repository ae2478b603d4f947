// The state of instances of Microsoft.Extensions.Caching.Memory.MemoryCache, for the inspector and for findings. Reads
// some words of each table's locks. Not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <optional>

namespace dnheap {

inline constexpr const char *memory_cache = "Microsoft.Extensions.Caching.Memory.MemoryCache";

struct FoundCache {
  u64 entries = 0, size = 0;
  std::optional<u64> limit; // nullopt: none
};

// Returns nullopt if the fields are unknown or not in the dump.
std::optional<FoundCache> read_cache(FieldReader &fields, Address cache);

} // namespace dnheap
