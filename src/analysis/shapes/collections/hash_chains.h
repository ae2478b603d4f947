// HashChains: how well the keys of a Dictionary or a HashSet are spread over its buckets, by the hash codes that its
// entries keep. Costs two reads for each entry, and 8 bytes for each used one. Not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <optional>

namespace dnheap {

struct HashChains {
  u64 entries = 0;
  u64 longest = 0; // entries that share one bucket
  u64 steps = 0;   // entries that looking up each key once compares with it
  u64 codes = 0;   // different hash codes
  Address key = 0; // the first entry's key, if keys are references
  std::string key_type;

  // Returns how many entries one look-up compares on average: 1.5 for keys that are spread well.
  double usual() const { return entries ? static_cast<double>(steps) / static_cast<double>(entries) : 0; }
};

// Nullopt if the object does not have the fields of such a table, or has fewer entries than `least`, or its numbers
// contradict each other.
std::optional<HashChains> hash_chains(const Runtime &runtime, FieldReader &fields, Address table, u64 least);

} // namespace dnheap
