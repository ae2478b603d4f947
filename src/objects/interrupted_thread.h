// InterruptedThread: what a thread did when a signal came that it handles on another stack. The kernel lays that down
// on the other stack, in a frame (struct ucontext of each processor's <asm/ucontext.h>) that says where that stack lies
// and what the registers were; the runtime, which goes on to a third stack when a thread's own has overflowed, keeps a
// pointer to it. Looks at no more than 256 KiB. Any thread.
#pragma once
#include "target/target.h"

namespace dnheap {

struct InterruptedThread {
  Address stack_pointer = 0, instruction_pointer = 0;
  std::vector<u64> registers;
};

// Of a thread of Linux whose own stack is [limit, base) while its stack pointer is elsewhere. Nullopt: there is no such
// frame, or the dump lacks it.
std::optional<InterruptedThread> find_interrupted(const Target &target, const Thread &thread, Address limit,
                                                  Address base);

} // namespace dnheap
