// StaticRoot: one static field or thread static that refers to an object, by name. Every kind of runtime lists its own
// (Runtime::static_roots). Plain data.
//
// A field's slot may be an element of an array on the heap (CoreCLR keeps statics so): that array is its `holder`. A
// handle or a thread keeps the holder alive, and a reader wants to see the fields in place of its elements. Code that
// builds a graph leaves out the references of holders that have a StaticRoot with is_root, and starts from those roots
// instead.
#pragma once
#include "base/integers.h"

#include <string>

namespace dnheap {

struct StaticRoot {
  Address slot = 0;
  Address object = 0;    // the object in the slot; never null
  std::string name = {}; // "Shop.Cache._items"
  Address thread = 0;    // for a thread static: the runtime's Thread (ThreadData::address); 0: an ordinary static
  Address holder = 0;    // the array object that contains the slot; 0: none does
  // True if the slot is always alive. False for a static of a collectible type, whose storage its LoaderAllocator keeps
  // alive: then the name only explains the holder's element.
  bool is_root = true;
};

} // namespace dnheap
