// Unwinds x64 functions by their UNWIND_INFO: turns the registers inside a function into those of its caller, and lists
// where each saved register lies. The format is that of Windows, plus one operation that .NET adds on other systems. A
// few reads per saved register. Any thread.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "runtime/compiled/registers.h"

namespace dnheap {

// A function, from its RUNTIME_FUNCTION.
struct FunctionUnwind {
  Address start = 0, end = 0;
  Address image_base = 0; // base of the addresses in unwind data
  Address unwind_info = 0;
};

// `interrupted`: the thread executes at registers.ip, which is not a return address; then the function may be in an
// epilog, which its code shows, if it is in the dump. Leaves `registers` unchanged on failure.
ReadOutcome unwind_x64(const Memory &memory, const FunctionUnwind &function, const CallingConvention &convention,
                       bool interrupted, Registers &registers);

} // namespace dnheap
