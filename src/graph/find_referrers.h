// find_referrers: who refers to one object? A look at every reference, side by side in memory: some 50 ms for a hundred
// million, and no memory. For all objects at once there is Referrers.
#pragma once
#include "base/watch.h"
#include "graph/edges.h"

#include <vector>

namespace dnheap {

// Ascending, each once.
std::vector<ObjectId> find_referrers(const Edges &edges, ObjectId object, unsigned threads, const Watch &watch);

} // namespace dnheap
