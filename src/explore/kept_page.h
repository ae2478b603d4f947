// kept_page: the explorer's page in one file that needs no server and no network: the same front end, with answers to
// what people look at first inside it. What else is asked of it, it says to be missing. Costs those answers: the
// dominator tree, the ways of some hundred objects, and a search per type that is told the ways of. One thread.
#pragma once
#include "explore/explored_heap.h"

namespace dnheap::explore {

// A page of a few hundred KiB, whatever the heap's size. Throws Error, Interrupted.
std::string kept_page(ExploredHeap &heap);

} // namespace dnheap::explore
