// Finds the target's thread, with its registers, for a thread of the runtime. O(threads of the target). Any thread.
#pragma once
#include "runtime/thread_data.h"
#include "target/target.h"

#include <span>

namespace dnheap {

// True if the address lies in the thread's stack, as far as the runtime publishes its bounds.
bool in_stack(const ThreadData &thread, Address address);

// Bytes around the end of a stack: its guard pages, and data that an overflow would have written there.
inline constexpr u64 near_stack_end = 64 << 10;
// True if a thread with this stack pointer has overflowed its stack, before it touched the guard pages.
bool is_beyond_stack(const ThreadData &thread, Address stack_pointer);

// The kernel lets the stack of a process's first thread grow, which musl ignores: the limit it reports is what was
// mapped at that time. Lowers the limit of that thread to the start of the mapping, if that is further out.
void widen_first_stack(const Target &target, std::span<ThreadData> threads);

// Finds the thread by its OS id; in a process of another PID namespace, by the stack that contains its stack pointer. A
// thread may be on no known stack: it handles a signal on another one. Null: the target has no such thread.
const Thread *find_registers(const Target &target, const ThreadData &thread);

} // namespace dnheap
