// ObjectFinder: finds the object that begins at an address or covers it, for pointers into objects. Costs a look-up in
// the index and a read of the object's first two words. Not for several threads at once; the heap, its index and the
// runtime must outlive the ObjectFinder.
#pragma once
#include "heap/type_table.h"
#include "objects/object_index.h"
#include "runtime/runtime.h"

namespace dnheap {

class ObjectFinder {
public:
  ObjectFinder(const ObjectIndex &index, const Heap &heap, const Runtime &runtime)
      : index_(index), memory_(runtime.memory()), types_(runtime.types(), heap) {}

  // Returns 0 if there is none, as in Free memory or outside the heap.
  Address find(Address address);

private:
  const ObjectIndex &index_;
  const Memory &memory_;
  TypeTable types_;
};

} // namespace dnheap
