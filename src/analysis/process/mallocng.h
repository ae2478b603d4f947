// mallocng, the malloc of musl (1.2; 1.2.3 was looked at), without symbols: its areas of group records are pages that
// begin with a secret, which the auxiliary vector leads to; each record says where its group lies, and its group leads
// back to it. Nothing is trusted: a record that is not sound is left out. Costs a load per page of writable memory, up
// to the first area, and some per group. 64-bit Linux only. Call from one thread.
#pragma once
#include "analysis/process/malloc_arenas.h"

#include <optional>

namespace dnheap {

// Groups that were mapped by themselves are heaps, of one arena; groups that lie in a slot of another one are part of
// its heap. Nullopt: the target has no mallocng, or its areas were not found.
std::optional<MallocArenas> find_mallocng(const Target &target);

} // namespace dnheap
