// The entries of a System.Collections.Generic.Dictionary of references, and of arrays of such pairs. Two reads per
// entry. Not for several threads at once.
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

// Returns the first `used` elements of an array of structs with the fields `key` and `value`, for example of
// KeyValuePair. Nullopt if it is no such array, or has fewer elements.
std::optional<std::vector<DictionaryEntry>> pairs_in_array(const Runtime &runtime, FieldReader &fields, Address array,
                                                           u32 used);

} // namespace dnheap
