// Cached queries: the queries that Entity Framework Core has compiled and keeps in its cache, in groups of those that
// differ in constants only. A walk of the heap, and Snapshot::live(). Throws Interrupted. Not for several threads at
// once.
#pragma once
#include "snapshot/snapshot.h"

#include <string>
#include <vector>

namespace dnheap {

struct CachedQueries {
  std::string query; // as ExpressionText writes it: "Order.Where(order => order.Id == Int32)"
  bool has_constants = false;
  u64 count = 0;
  Address example = 0; // an entry of the cache
};

// Returns the groups, the largest first; none if the dump has no values, as the names in a query are strings.
// `unknown`: how many queries have another shape than they should have.
std::vector<CachedQueries> find_cached_queries(const Snapshot &snapshot, u64 &unknown);

// Returns how many entries all caches have, without a walk: an upper bound.
u64 count_cache_entries(const Snapshot &snapshot);

} // namespace dnheap
