// Requests of ASP.NET Core: those of Kestrel's connections and streams, contexts that are held after their request has
// ended, and sessions, in groups. Walks of the heap, and a pass over its references. Throws Interrupted. One thread.
#pragma once
#include "snapshot/snapshot.h"

#include <map>
#include <string>

namespace dnheap {

struct RequestKey {
  std::string kind, state, method, type, held_by; // "request", "context", "session"; "in flight", "ended", …
  auto operator<=>(const RequestKey &) const = default;
};
struct RequestGroup {
  u64 count = 0;
  Address example = 0;
};
using RequestGroups = std::map<RequestKey, RequestGroup>;

// `unknown`: by type, how many objects have other fields than they should have.
RequestGroups find_requests(Snapshot &snapshot, std::map<std::string, u64> &unknown);

} // namespace dnheap
