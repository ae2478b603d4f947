// HashChains: how well the keys of a Dictionary or a HashSet are spread over its buckets, by the hash codes that its
// entries keep. A sample of up to 65,536 entries leaves out tables that are spread well; counting costs two reads for
// each entry, a sort, and 8 bytes for each. Not for several threads at once.
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

// False if a sample of the entries shows that looking up a key compares fewer than `usual` on average; false also where
// hash_chains() returns nullopt. True: it may compare more.
bool may_have_long_chains(const Runtime &runtime, FieldReader &fields, Address table, double usual);

// Nullopt if the object does not have the fields of such a table, or has fewer entries than `least`, or its numbers
// contradict each other.
std::optional<HashChains> hash_chains(const Runtime &runtime, FieldReader &fields, Address table, u64 least);

} // namespace dnheap
