// ConstructorWaits: threads that wait until another one has run a type's static constructor. No note of the runtime's
// is known that says so: who waits stands in the runtime's initializer of types (8.0 and 9.0: in a helper of the
// runtime), and has on its stack there the MethodTable of a type whose constructor is on another thread's stack.
// CoreCLR alone. Walks all stacks once. One thread.
#pragma once
#include "runtime/runtime.h"

#include <map>
#include <span>

namespace dnheap {

struct ConstructorWait {
  Address type = 0;         // a MethodTable
  u32 runs_on = 0;          // index in the list of threads
  bool is_by_stack = false; // that it waits at all, only the word on its stack shows
};

// Does it stand where a thread may wait so? Costs no more than a name.
bool may_wait_for_constructor(const Runtime &runtime, const WalkedStack &stack);
// By index in the list of threads.
std::map<u32, ConstructorWait> find_constructor_waits(const Runtime &runtime, std::span<const ThreadData> threads);

} // namespace dnheap
