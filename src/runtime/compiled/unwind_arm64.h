// Unwinds arm64 functions by their .xdata, as Windows defines it and .NET uses it on all systems: turns the registers
// inside a function into those of its caller. Not yet shown on real memory: tests are synthetic. A few reads per saved
// register. Any thread.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "runtime/compiled/registers.h"
#include "runtime/compiled/unwind_x64.h"

namespace dnheap {

// As unwind_x64(), but without `interrupted`: unwind data describes the epilogs.
ReadOutcome unwind_arm64(const Memory &memory, const FunctionUnwind &function, const CallingConvention &convention,
                         Registers &registers);

} // namespace dnheap
