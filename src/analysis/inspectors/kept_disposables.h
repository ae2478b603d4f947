// Kept disposables: the objects that scopes of services keep until they are disposed, by type and kind of scope. A walk
// of the heap, and a read of each scope's list; some 16 bytes for each object in these lists. Throws Error,
// Interrupted. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <string>
#include <vector>

namespace dnheap {

struct KeptDisposables {
  std::string type;
  const char *kind = ""; // root, scope
  u64 count = 0, bytes = 0, scopes = 0;
  u64 most = 0; // of one scope
  Address largest = 0;
};

// The largest first. An object that a list has twice counts twice, but its bytes count once. Scopes of unknown shape
// are left out: find_service_scopes() counts them.
std::vector<KeptDisposables> find_kept_disposables(const Snapshot &snapshot);

} // namespace dnheap
