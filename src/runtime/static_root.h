// StaticRoot: one static field or thread static that refers to an object, by name. Every kind of runtime lists its own
// (Runtime::static_roots). Plain data.
//
// Where a field's slot is an element of an array on the heap (CoreCLR keeps statics so), the array is its `holder`: a
// handle or a thread keeps the holder alive, and the fields are what a reader wants to see in the place of its
// elements. Whoever builds a graph leaves out the references of holders that have a StaticRoot with is_root, and starts
// from those instead.
#pragma once
#include "base/integers.h"

#include <string>

namespace dnheap {

struct StaticRoot {
  Address slot = 0;
  Address object = 0;    // what is in it; never null
  std::string name = {}; // "Shop.Cache._items"
  Address thread = 0;    // the runtime's Thread (ThreadData::address) of a thread static; 0: an ordinary static
  Address holder = 0;    // the array object that the slot lies in; 0: it lies in no object
  // Alive whatever else is. False: of a collectible type, whose storage its LoaderAllocator keeps alive: the name says
  // what the element of the holder means, no more.
  bool is_root = true;
};

} // namespace dnheap
