// Leaving an x64 function from inside its epilog, by the instructions that are left of it: unwind data tells of prologs
// only. Some ten reads. Any thread.
#pragma once
#include "runtime/compiled/registers.h"

namespace dnheap {

// The registers of the caller. Nullopt: it does not stand in an epilog, or the dump lacks code or stack.
std::optional<Registers> leave_epilog_x64(const Memory &memory, Address function_start, Address function_end,
                                          const Registers &registers);

} // namespace dnheap
