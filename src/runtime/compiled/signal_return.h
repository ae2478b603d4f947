// Leaves the return point of a signal handler by the registers that Linux's kernel saved on the stack when it called
// the handler. For return points without call frame information: arm64's kernel has none, musl has none. x64 and arm64.
// A few dozen reads. Any thread. Formats: the kernel's struct rt_sigframe of each processor.
#pragma once
#include "runtime/compiled/registers.h"

namespace dnheap {

// True if the instructions at registers.ip are those of a return point: `registers` are then those of the code that the
// signal interrupted. Else, and if the saved registers are not in the dump, false: `registers` are unchanged.
bool leave_signal_return(const Memory &memory, const CallingConvention &convention, Registers &registers);

} // namespace dnheap
