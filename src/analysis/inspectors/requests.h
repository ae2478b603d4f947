// Requests of ASP.NET Core: those of Kestrel's connections and streams, contexts that are held after their request has
// ended, and sessions, in groups. Walks of the heap, and a pass over its references, once for a snapshot. Throws
// Interrupted. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace dnheap {

struct RequestKey {
  // kind: "request", "context", "session"; state: "in flight", "ended", …
  std::string kind, state, method, type, held_by;
  auto operator<=>(const RequestKey &) const = default;
};
// When a request began: units of the stopwatch, or DateTime's; 0: not noted.
struct RequestStart {
  u64 stopwatch = 0, utc = 0;
};
struct RequestGroup {
  u64 count = 0;
  Address example = 0;
  std::optional<u64> age_most = {}; // ms since the oldest request in flight began; nullopt: unknown
  bool is_at_least = false;         // the age may be greater
};
using RequestGroups = std::map<RequestKey, RequestGroup>;

struct FoundRequests {
  RequestGroups groups;
  std::map<std::string, u64> unknown; // by type, how many objects have other fields than they should have

  u64 in_flight() const;
  // Returns the group with the oldest request in flight; null: no age is known.
  const RequestGroup *oldest() const;
};

std::shared_ptr<const FoundRequests> find_requests(const Snapshot &snapshot);

enum class AspNetTypes : u8 { server, server_and_contexts }; // Kestrel's own types of HTTP; also contexts of requests
// Returns how many objects of these types there are, from the tally: a look before find_requests(), which walks the
// heap. There are several for each request.
u64 count_requests(const Snapshot &snapshot, AspNetTypes types);

} // namespace dnheap
