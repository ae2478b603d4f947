// HttpCalls: how long the program's own calls over HTTP have been in flight. A call notes its start where HttpClient
// has a timeout, as it has by default (the timer that ends the call), and where IHttpClientFactory made the client (its
// handlers measure each call, for the log). Other calls know nothing of the kind. Walks the heap twice if there are
// such calls. Throws Interrupted. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <vector>

namespace dnheap {

struct HttpCalls {
  std::vector<u64> ages;    // ms, ascending, of the calls whose start is known
  bool is_at_least = false; // the ages are up to the newest time in the heap

  u64 oldest() const { return ages.empty() ? 0 : ages.back(); }
  // Returns the age that half of the calls have reached; 0: no age is known.
  u64 usual() const { return ages.empty() ? 0 : ages[ages.size() / 2]; }
};

HttpCalls find_http_calls(const Snapshot &snapshot);

} // namespace dnheap
