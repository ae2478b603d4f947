// find_referrers: finds the objects that refer to one object. One parallel look at every reference of the heap, as for
// `verify`; takes no memory. For all objects at once use Referrers.
#pragma once
#include "base/watch.h"
#include "objects/object_index.h"
#include "objects/references.h"

#include <vector>

namespace dnheap {

// Returns the referrers, ascending, each once. References through dependent handles and LoaderAllocators count, too.
std::vector<ObjectId> find_referrers(const ObjectIndex &index, const References &references, Address object,
                                     unsigned threads, const Watch &watch);

} // namespace dnheap
