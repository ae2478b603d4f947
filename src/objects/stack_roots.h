// Finds stack roots. For stacks that can be walked, these are the references that each frame's method holds at its
// current instruction, from its GC info, with the method's name. For other stacks, and for the rest of a stack whose
// walk ends early, they are conservative roots: all words in the thread's registers and on its stack that are the
// address of an object or of a part of one. The stack is read from 128 bytes below the stack pointer (the red zone of
// the System V ABI) to its end. Some may be left over from calls that have returned. For a thread that handles a signal
// on another stack, the scan starts where it was interrupted. Costs some 10 µs a frame, or a look at each word of the
// stacks in use. Not for several threads at once, since it names methods.
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
