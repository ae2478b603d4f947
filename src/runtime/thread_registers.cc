#include "runtime/thread_registers.h"

namespace dnheap {

bool in_stack(const ThreadData &thread, Address address) {
  return thread.stack_base && thread.stack_limit && *thread.stack_limit <= address && address < *thread.stack_base;
}

bool is_beyond_stack(const ThreadData &thread, Address stack_pointer) {
  return thread.stack_base && thread.stack_limit && stack_pointer < *thread.stack_limit &&
         *thread.stack_limit - stack_pointer <= near_stack_end;
}

const Thread *find_registers(const Target &target, const ThreadData &thread) {
  const Thread *by_stack = nullptr, *elsewhere = nullptr;
  for (const Thread &t : target.threads) {
    const bool same_number = thread.os_id && t.id == *thread.os_id;
    if (same_number && (!thread.stack_base || in_stack(thread, t.stack_pointer)))
      return &t;
    if (same_number)
      elsewhere = &t;
    if (in_stack(thread, t.stack_pointer))
      by_stack = &t;
  }
  return by_stack ? by_stack : elsewhere;
}

} // namespace dnheap
