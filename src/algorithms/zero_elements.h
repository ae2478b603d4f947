// Counts the zero elements of an array; gives up when more elements are not zero than the caller allows. Reads each
// byte at most once. Any thread.
#pragma once
#include "base/bytes.h"

#include <optional>

namespace dnheap {

// Nullopt if more than `most_others` elements of that size are not zero. Bytes after the last whole element are
// ignored.
std::optional<u64> zero_elements(Bytes bytes, u64 size, u64 most_others);

} // namespace dnheap
