// Derives where threads keep the list of their Frames, how kinds of Frames are told (by the vtables that g_dacTable
// names, in .NET 8 and 9), and where those of native calls keep what. See derivation.h.
#pragma once
#include "runtime/layout/derivation.h"
#include "runtime/thread_data.h"

namespace dnheap {

// `threads`: all that the runtime lists, with their stacks. `gc_variable`: as of DacTable.
void derive_frames(Derivation &derivation, std::span<const ThreadData> threads, Address gc_variable);

} // namespace dnheap
