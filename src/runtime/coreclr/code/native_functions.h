// NativeFunctions: unwinds functions of native code, by the data in images of Windows (.pdata) and Linux (.eh_frame):
// only for the few frames between a HelperMethodFrame and the managed code that called them. The image is opened at
// every step; some 50 reads. Any thread.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "runtime/compiled/registers.h"

namespace dnheap {

// Turns the registers of a function that has called another one into those of its own caller. Leaves `registers`
// unchanged on failure: the image is not in the dump, or does not contain the function.
ReadOutcome leave_native_function(const Target &target, const CallingConvention &convention, Registers &registers);

} // namespace dnheap
