// find_referrers: who refers to one object? One parallel look at every reference of the heap, as for `verify`; no
// memory. For all objects at once there is Referrers.
#pragma once
#include "base/watch.h"
#include "objects/object_index.h"
#include "objects/references.h"

#include <vector>

namespace dnheap {

// Ascending, each once; through dependent handles and LoaderAllocators, too.
std::vector<ObjectId> find_referrers(const ObjectIndex &index, const References &references, Address object,
                                     unsigned threads, const Watch &watch);

} // namespace dnheap
