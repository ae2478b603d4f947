// Which of the target's threads, with its registers, a thread of the runtime is. O(threads of the target). Any thread.
#pragma once
#include "runtime/thread_data.h"
#include "target/target.h"

#include <span>

namespace dnheap {

// Does that lie in its stack, as far as the runtime says where that is?
bool in_stack(const ThreadData &thread, Address address);

// Bytes around the end of a stack: pages that guard it, and what was meant to lie there when it overflowed.
inline constexpr u64 near_stack_end = 64 << 10;
// Is that where the stack pointer of a thread stands whose stack has overflowed, before it touched what guards the end?
bool is_beyond_stack(const ThreadData &thread, Address stack_pointer);

// The kernel lets the stack of a process's first thread grow, which musl does not say: its limit is what was mapped
// when somebody asked. So the limit of that thread is where the mapping begins, if that is further out.
void widen_first_stack(const Target &target, std::span<ThreadData> threads);

// By number; of a process in another namespace of numbers by the stack that the stack pointer points into. A thread may
// be elsewhere: it handles a signal on another stack. Null: the target has no such thread.
const Thread *find_registers(const Target &target, const ThreadData &thread);

} // namespace dnheap
