// Finds the target's thread, with its registers, for a thread of the runtime. O(threads of the target). Any thread.
#pragma once
#include "runtime/facts/thread_data.h"
#include "target/target.h"

#include <span>

namespace dnheap {

// True if the address lies in the thread's stack, as far as the runtime publishes its bounds.
bool in_stack(const ThreadData &thread, Address address);

// Bytes around the end of a stack: its guard pages, and data that an overflow would have written there.
inline constexpr u64 near_stack_end = 64 << 10;
// True if a thread with this stack pointer has overflowed its stack, before it touched the guard pages.
bool is_beyond_stack(const ThreadData &thread, Address stack_pointer);

// Lowers the stack limit of a process's first thread to the start of the stack's mapping, if that is further out. The
// kernel lets this stack grow; musl ignores that, and reports as its limit what was mapped when it was asked.
void widen_first_stack(const Target &target, std::span<ThreadData> threads);

// Finds the thread by its OS id; in a process of another PID namespace, by the stack that contains its stack pointer. A
// thread that handles a signal on another stack is found by its OS id alone. Null: the target has no such thread.
const Thread *find_registers(const Target &target, const ThreadData &thread);

} // namespace dnheap
