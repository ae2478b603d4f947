// Derives where threads keep the list of their Frames, how kinds of Frames are told (by the vtables that g_dacTable
// names, in .NET 8 and 9), and where those of native calls keep what. Needs the threads and their stacks derived. See
// derivation.h.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc_variable`: as of DacTable.
void derive_frames(Derivation &derivation, Address gc_variable);

} // namespace dnheap
