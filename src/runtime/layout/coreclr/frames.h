// Derives the head of a thread's list of Frames, the identifiers of the kinds of Frames (in .NET 8 and 9 the vtables
// that g_dacTable lists), and the layout of Frames of native calls. See derivation.h.
#pragma once
#include "runtime/facts/thread_data.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// `threads`: all that the runtime lists, with their stacks. `gc_variable`: as in DacTable.
void derive_frames(Derivation &derivation, std::span<const ThreadData> threads, Address gc_variable);

} // namespace dnheap
