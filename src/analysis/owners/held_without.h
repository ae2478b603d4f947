// HeldWithout: the objects that would stay alive if some given objects held nothing: roots reach them by another way. A
// list (an event's handlers, a source's registrations) is given by rules that ask what was forgotten in it: an object
// that only the list holds. Costs one search of the graph; two bits per object. Throws Interrupted. Immutable
// afterwards.
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
