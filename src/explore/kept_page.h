// kept_page: makes the explorer's page as one file that needs neither server nor network: the same front end, with the
// answers that people look at first inside it. For any other question the page says that the answer is missing. Costs
// these answers: the dominator tree, the paths of some hundred objects, and a search for each type whose paths are
// included. Not for several threads at once.
#pragma once
#include "explore/explored_heap.h"

namespace dnheap::explore {

// Returns a page of a few hundred KiB, whatever the heap's size. Throws Error, Interrupted.
std::string kept_page(ExploredHeap &heap);

} // namespace dnheap::explore
