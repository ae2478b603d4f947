// Unwinds an x64 function from inside its epilog, by executing the rest of its instructions: unwind data only describes
// prologs. Some ten reads. Any thread.
#pragma once
#include "runtime/compiled/registers.h"

namespace dnheap {

// Returns the registers of the caller. Nullopt: the function is not in an epilog, or its code or stack is not in the
// dump.
std::optional<Registers> leave_epilog_x64(const Memory &memory, Address function_start, Address function_end,
                                          const Registers &registers);

} // namespace dnheap
