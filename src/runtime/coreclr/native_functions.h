// NativeFunctions: leaves functions of native code, as images of Windows (.pdata) and Linux (.eh_frame) describe them:
// for the few on a stack that lie between a HelperMethodFrame and the managed code that called them. The image is
// opened at every step; some 50 reads. Any thread.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "runtime/compiled/registers.h"

namespace dnheap {

// From the registers of a function that has called another one to those of its own caller. Leaves `registers` as they
// are where that is not done: the dump lacks the image, or the function is none of its.
ReadOutcome leave_native_function(const Target &target, const CallingConvention &convention, Registers &registers);

} // namespace dnheap
