// InterruptedThread: the state in which a signal interrupted a thread that now handles the signal on another stack. The
// kernel saves it on that other stack, in a frame (struct ucontext of each processor's <asm/ucontext.h>) with the
// bounds of that stack and the registers. When a thread's own stack has overflowed, the runtime switches to a third
// stack and keeps a pointer to this frame. Reads no more than 256 KiB. Any thread.
#pragma once
#include "target/target.h"

namespace dnheap {

struct InterruptedThread {
  Address stack_pointer = 0, instruction_pointer = 0;
  std::vector<u64> registers;
};

// Takes a Linux thread whose own stack is [limit, base) while its stack pointer is elsewhere. Nullopt: there is no such
// frame, or it is not in the dump.
std::optional<InterruptedThread> find_interrupted(const Target &target, const Thread &thread, Address limit,
                                                  Address base);

} // namespace dnheap
