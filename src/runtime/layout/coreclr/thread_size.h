// Bounds the size of a Thread: searches for a member end there, since other data may follow a Thread. Only for the
// derivation; a few reads per thread.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// Returns the least of: the published size, the distance between two neighbours, and the block size that the C
// library's allocator (glibc: the word in front of a block) has for each of them. Never more than `most_thread_words`.
i64 largest_thread(const Derivation &derivation, std::vector<Address> threads);

inline constexpr i64 most_thread_words = 256; // a Thread has 189 words in 8.0, 139 in 9.0, 93 in 10.0

} // namespace dnheap
