// Stack roots. For stacks that can be walked: the references that each frame's method holds at its current instruction,
// from its GC info, with the method's name. For other stacks, or from where a walk ends, conservative roots: every word
// of a thread's registers and of its stack, from 128 bytes below the stack pointer (the red zone of the System V ABI)
// to the stack's end, that is the address of an object or of a part of one. Some may be left over from calls that have
// returned. For a thread that handles a signal on another stack, the scan starts where it was interrupted. Costs some
// 10 µs a frame, or a look at each word of the stacks in use. One thread: it names methods.
#pragma once
#include "objects/roots.h"
#include "target/target.h"

namespace dnheap {

// Adds roots, threads unknown to the runtime, names, notes and problems.
void add_stack_roots(const Runtime &runtime, std::span<const ThreadData> threads, const ObjectAt &object_at,
                     RootSet &to);

// Returns the stretches of stacks that a conservative scan would read.
std::vector<std::pair<Address, Address>> scanned_stacks(const Target &target, std::span<const ThreadData> threads);

} // namespace dnheap
