// The entries of a System.Collections.Generic.Dictionary of references. Two reads per entry. One thread.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <optional>
#include <vector>

namespace dnheap {

struct DictionaryEntry {
  Address key = 0, value = 0; // null where they cannot be read, and of an entry that was removed
};

// In the order of its array. Nullopt: it has not the fields that a Dictionary is known to have, or more than `most`
// entries.
std::optional<std::vector<DictionaryEntry>> dictionary_entries(const Runtime &runtime, FieldReader &fields,
                                                               Address dictionary, u32 most);

} // namespace dnheap
