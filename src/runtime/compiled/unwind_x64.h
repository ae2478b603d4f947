// Unwinding of x64 functions by their UNWIND_INFO: from the registers inside a function to those of its caller, and
// where each register that the function saved lies. As Windows defines it, and with the operation that .NET adds
// elsewhere. A few reads per saved register. Any thread.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "runtime/compiled/registers.h"

namespace dnheap {

// A function as its RUNTIME_FUNCTION tells it.
struct FunctionUnwind {
  Address start = 0, end = 0;
  Address image_base = 0; // what the addresses in unwind data are relative to
  Address unwind_info = 0;
};

// `interrupted`: the function stands at registers.ip, and has not called from there; then it may be in an epilog, which
// its code tells, if the dump has that. Leaves `registers` as they are if it does not succeed.
ReadOutcome unwind_x64(const Memory &memory, const FunctionUnwind &function, const CallingConvention &convention,
                       bool interrupted, Registers &registers);

} // namespace dnheap
