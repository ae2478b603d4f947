// How many elements of an array are zero; gives up as soon as there are more of others than asked. Reads each byte once
// at most. Any thread.
#pragma once
#include "base/bytes.h"

#include <optional>

namespace dnheap {

// Nullopt: more than `most_others` elements of that size are not zero. Bytes behind the last whole element do not
// count.
std::optional<u64> zero_elements(Bytes bytes, u64 size, u64 most_others);

} // namespace dnheap
