// ConstructorWaits: threads that wait until another thread has run a type's static constructor. As far as we know, the
// runtime does not record waits for static constructors. A waiting thread is in the runtime's initializer of types (8.0
// and 9.0: in a helper of the runtime), and this part of its stack has the MethodTable of a type whose constructor is
// on another thread's stack. CoreCLR only. Walks all stacks once. Not for several threads at once.
#pragma once
#include "runtime/runtime.h"

#include <map>
#include <span>

namespace dnheap {

struct ConstructorWait {
  Address type = 0;         // a MethodTable
  u32 runs_on = 0;          // index in the list of threads
  bool is_by_stack = false; // only a word on the thread's stack shows that it waits
};

// True if the stack is at a place where a thread may wait for a static constructor. Costs no more than reading a name.
bool may_wait_for_constructor(const Runtime &runtime, const WalkedStack &stack);
// Returns the waits by index in the list of threads.
std::map<u32, ConstructorWait> find_constructor_waits(const Runtime &runtime, std::span<const ThreadData> threads);

} // namespace dnheap
