// Objects with a finalizer that the GC has registered and not yet found dead: the first parts of the finalization queue
// (SOS' finalizequeue lists these). One read per entry; one thread.
#pragma once
#include "base/integers.h"
#include "runtime/facts/gc_data.h"

#include <functional>

namespace dnheap {

class Notes;
class Snapshot;

// Calls `visit` with each object and the part of the queue that has it. Notes what of the queue cannot be read.
void each_registered_object(const Snapshot &snapshot, Notes &notes,
                            const std::function<void(Address, const GCFinalizeQueuePart &)> &visit);

} // namespace dnheap
