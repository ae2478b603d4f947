// Unwinding of x86 methods, which have no unwind codes: the header of their GC info says how their frame is laid out.
// From the registers inside a method to those of its caller. A few reads. Any thread.
#pragma once
#include "runtime/compiled/gc_info_x86.h"
#include "runtime/compiled/registers.h"

namespace dnheap {

// `offset`: of where it stands in the method; `is_funclet`: in one of its handlers, which have no frame of their own.
// Methods that stand in their prolog or epilog, as only a thread that was stopped there does, are not followed. Leaves
// `registers` as they are where it does not succeed.
ReadOutcome unwind_x86(const Memory &memory, const GcInfoX86 &info, u64 offset, bool is_funclet, Registers &registers);

} // namespace dnheap
