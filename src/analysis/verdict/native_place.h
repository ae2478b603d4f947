// native_place(): where native code stood when a signal came, and which library of the program called into the system's
// libraries there. Opens the files of the modules that it names. Not for several threads at once.
#pragma once
#include "runtime/facts/stack_frame.h"
#include "snapshot/snapshot.h"

#include <string>

namespace dnheap {

// Returns "libimaging.so!img_scale+0x12", or "libc.so.6!__assert_fail+0x42, called by libimaging.so!img_resize+0x2a":
// of the system's functions the innermost one, or, if the process aborted, the one that the other library called.
// Empty: no native function is between the signal and the innermost managed method, or that is unknown.
std::string native_place(const Snapshot &snapshot, const WalkedStack &stack, bool aborted);

// Returns the innermost function of the program's libraries that called the runtime: "libdevice.so!fire+0xa"; empty:
// there is none between the signal and the innermost managed method.
std::string native_caller(const Snapshot &snapshot, const WalkedStack &stack);

// Returns "; an assertion does not hold …" for a place in a function by which the C library ends a process because it
// found a fault; else empty. `place`: as of native_place() where the process was aborted.
std::string failure_in_words(std::string_view place);

} // namespace dnheap
