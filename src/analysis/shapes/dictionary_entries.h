// The entries of a System.Collections.Generic.Dictionary of references. Two reads per entry. Not for several threads at
// once.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <optional>
#include <vector>

namespace dnheap {

struct DictionaryEntry {
  Address key = 0, value = 0; // 0: null, unreadable, or the entry was removed
};

// Returns the entries in the order of the dictionary's array. Nullopt if it does not have the fields of a Dictionary,
// or has more than `most` entries.
std::optional<std::vector<DictionaryEntry>> dictionary_entries(const Runtime &runtime, FieldReader &fields,
                                                               Address dictionary, u32 most);

} // namespace dnheap
