// native_overflow(): the native function whose calls filled a thread's stack. Reads up to 256 KiB at the end of that
// stack, and symbols of the modules to which most return addresses there lead. Not for several threads at once.
#pragma once
#include "objects/interrupted_thread.h"
#include "runtime/facts/stack_frame.h"
#include "runtime/facts/thread_data.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <string>

namespace dnheap {

// Returns "libcodec.so!parse": the function that recurs, or, if none does, the one in which the stack ended. Empty: the
// stack did not end there, or in managed code or the runtime. `stack`: the thread's, with native frames. `interrupted`:
// where the signal came; nullopt: the caller does not know.
std::string native_overflow(const Snapshot &snapshot, const ThreadData &thread, const WalkedStack &stack,
                            std::optional<InterruptedThread> interrupted);

} // namespace dnheap
