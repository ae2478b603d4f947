// fail_fast_message(): the text that a program gave to Environment.FailFast. Reads a few words; not for several threads
// at once.
#pragma once
#include "runtime/facts/stack_frame.h"
#include "snapshot/snapshot.h"

namespace dnheap {

// Returns the string that the calls inside of FailFast's caller hold, or the runtime's Frame of FailFast; 0: none, or
// several. `caller`: stack pointer of the method that called FailFast.
Address fail_fast_message(const Snapshot &snapshot, const WalkedStack &stack, Address caller);

} // namespace dnheap
