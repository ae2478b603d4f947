// HeldWithout: the objects that roots reach by a way that does not lead through some objects: what would stay alive if
// these let go. For rules about lists (an event's handlers, a source's registrations): an object that only such a list
// holds was forgotten there. Costs one search of the graph, and a look at each reference; two bits per object. Throws
// Interrupted. Immutable afterwards.
#pragma once
#include "algorithms/object_bits.h"
#include "snapshot/snapshot.h"

#include <span>

namespace dnheap {

class HeldWithout {
public:
  // `cut`: addresses; those that are no objects are ignored.
  HeldWithout(const Snapshot &snapshot, std::span<const Address> cut);

  // True if a root leads to the object without passing one of the cut ones. Such an object itself counts as held if an
  // object that is held, or a root, refers to it.
  bool is_held(Address object) const;

private:
  const Snapshot &snapshot_;
  ObjectBits held_;
};

} // namespace dnheap
