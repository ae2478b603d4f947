// Unwinds x86 methods, which have no unwind codes: the header of their GC info describes their frame. Turns the
// registers inside a method into those of its caller. A few reads. Any thread.
#pragma once
#include "runtime/compiled/registers.h"
#include "runtime/compiled/x86/gc_info_x86.h"

namespace dnheap {

// `offset`: of the position in the method; `is_funclet`: the position is in one of the method's handlers, which have no
// frame of their own. Fails in a prolog or epilog, where a thread can only be if it was stopped there. Leaves
// `registers` unchanged on failure.
ReadOutcome unwind_x86(const Memory &memory, const GcInfoX86 &info, u64 offset, bool is_funclet, Registers &registers);

} // namespace dnheap
