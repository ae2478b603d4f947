// Which of the target's threads, with its registers, a thread of the runtime is. O(threads of the target). Any thread.
#pragma once
#include "runtime/thread_data.h"
#include "target/target.h"

namespace dnheap {

// Does that lie in its stack, as far as the runtime says where that is?
bool in_stack(const ThreadData &thread, Address address);

// By number; of a process in another namespace of numbers by the stack that the stack pointer points into. A thread may
// be elsewhere: it handles a signal on another stack. Null: the target has no such thread.
const Thread *find_registers(const Target &target, const ThreadData &thread);

} // namespace dnheap
