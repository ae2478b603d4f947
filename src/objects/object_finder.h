// ObjectFinder: any address → the object that begins there, or reaches over it: what a pointer into an object holds. A
// look-up in the index, and the object's first two words. One thread; the heap, its index and the runtime must outlive
// it.
#pragma once
#include "heap/type_table.h"
#include "objects/object_index.h"
#include "runtime/runtime.h"

namespace dnheap {

class ObjectFinder {
public:
  ObjectFinder(const ObjectIndex &index, const Heap &heap, const Runtime &runtime)
      : index_(index), memory_(runtime.memory()), types_(runtime.types(), heap) {}

  // 0: none, as in Free memory or outside of the heap.
  Address find(Address address);

private:
  const ObjectIndex &index_;
  const Memory &memory_;
  TypeTable types_;
};

} // namespace dnheap
