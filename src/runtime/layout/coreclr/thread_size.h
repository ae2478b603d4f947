// How many bytes a Thread can have at most: whoever searches a Thread for one of its members ends there, since behind
// it lies whatever the allocator put there. For the derivation only; a few reads per thread.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// The least of: the size that the target publishes, the distance between two neighbours, and what the C library's
// allocator (glibc: the word in front of a block) says that each of them has. Never more than `most_thread_words`.
i64 largest_thread(const Derivation &derivation, std::vector<Address> threads);

inline constexpr i64 most_thread_words = 256; // 8.0 has 189, 9.0 139, 10.0 93

} // namespace dnheap
