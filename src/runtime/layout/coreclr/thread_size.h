// Bounds the size of a Thread: searches for a member end there, since other data may follow a Thread. Only for the
// derivation; a few reads per thread.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// Returns the least of: the published size, the distance between two neighbours, and the block size that the C
// library's allocator (glibc: the word in front of a block) has for each of them. Never more than `most_thread_words`.
i64 largest_thread(const Derivation &derivation, std::vector<Address> threads);

inline constexpr i64 most_thread_words = 256; // 8.0 has 189, 9.0 139, 10.0 93

} // namespace dnheap
