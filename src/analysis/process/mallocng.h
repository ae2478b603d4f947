// mallocng, the malloc of musl (1.2; 1.2.3 was looked at), read without symbols. Its areas of group records are pages
// that begin with a secret, which is found through the auxiliary vector; each record has its group's address, and the
// group leads back to it. Nothing is trusted: invalid records are left out. Costs a load per page of writable memory,
// up to the first area, and some per group. 64-bit Linux only. Not for several threads at once.
#pragma once
#include "analysis/process/malloc_arenas.h"

#include <optional>

namespace dnheap {

// Returns one arena: separately mapped groups are its heaps, and a group in a slot of another one is part of that one's
// heap. `most_blocks`: as for find_malloc_arenas(). Nullopt if the target has no mallocng, or its areas were not found.
std::optional<MallocArenas> find_mallocng(const Target &target, u64 most_blocks = 0);

} // namespace dnheap
