// MethodUses: finds how a method uses semaphores, other handles and BlockingCollections, by the calls in its IL. Looks
// at a method's calls once, and keeps the result. Not for several threads at once.
#pragma once
#include "snapshot/method_bodies.h"

namespace dnheap {

class MethodUses {
public:
  // Nothing: the calls are unknown.
  struct Uses {
    // Takes or gives back permits: waits for a semaphore or another handle, or releases one.
    std::optional<bool> permits;
    std::optional<bool> gives_back; // releases one
    std::optional<bool> adds;       // to a collection, or completes it
    std::optional<bool> takes;      // from a collection
    std::optional<u64> waits;       // how many of its calls wait for a semaphore or another handle
  };
  // `calls`: as MethodBodies has them, which must outlive this object; null: unknown.
  const Uses &of(const std::vector<MethodBodies::Call> *calls);

private:
  std::map<const std::vector<MethodBodies::Call> *, Uses> known_;
};

} // namespace dnheap
