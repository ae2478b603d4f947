// Conservative stack roots: every word of a thread's registers and of its stack, from 128 bytes below the stack pointer
// (the red zone of the System V ABI) to the stack's end, that is the address of an object, or of a part of one. Some
// may be left over from calls that have returned. Of a thread that handles a signal on another stack: from where it was
// interrupted. Costs a look at each word of the stacks in use. Any thread.
#pragma once
#include "objects/roots.h"
#include "target/target.h"

namespace dnheap {

// Adds roots, threads that the runtime does not know of, and problems.
void add_stack_roots(const Target &target, std::span<const ThreadData> threads, const ObjectAt &object_at, RootSet &to);

// Which stretches of stacks that looks at.
std::vector<std::pair<Address, Address>> scanned_stacks(const Target &target, std::span<const ThreadData> threads);

} // namespace dnheap
