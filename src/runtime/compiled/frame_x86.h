// Leaves native functions of x86, which have no unwind data, by the frame pointer. A return address must follow a call;
// where the dump lacks the code, it must lie in code of a module. Functions that keep no frame pointer are passed over
// with their callee: use it only for display, never to decide what a stack holds. Some ten reads. Any thread.
#pragma once
#include "runtime/compiled/registers.h"

#include <functional>

namespace dnheap {

// True if the bytes in front of a return address end with a call instruction.
bool ends_with_call_x86(Bytes code);

// `is_exact`: the thread executes at registers.ip; it may be in a function that has no frame, such as one that makes a
// system call: then its return address is the first word of the stack. `is_code`: an address is code of a module. At
// the thread's first function registers.ip becomes 0. Returns false if nothing leads to a caller; `registers` are then
// unchanged.
bool leave_frame_x86(const Memory &memory, const CallingConvention &convention, bool is_exact,
                     const std::function<bool(Address)> &is_code, Registers &registers);

} // namespace dnheap
