#include "runtime/thread_registers.h"

#include <algorithm>

namespace dnheap {

bool in_stack(const ThreadData &thread, Address address) {
  return thread.stack_base && thread.stack_limit && *thread.stack_limit <= address && address < *thread.stack_base;
}

bool is_beyond_stack(const ThreadData &thread, Address stack_pointer) {
  return thread.stack_base && thread.stack_limit && stack_pointer < *thread.stack_limit &&
         *thread.stack_limit - stack_pointer <= near_stack_end;
}

void widen_first_stack(const Target &target, std::span<ThreadData> threads) {
  constexpr u64 at_random = 25; // elf.h: bytes that the kernel puts on the first thread's stack
  const auto random = target.auxv.find(at_random);
  if (random == target.auxv.end())
    return;
  const auto behind = std::upper_bound(target.mappings.begin(), target.mappings.end(), random->second,
                                       [](Address at, const Mapping &mapping) { return at < mapping.start; });
  if (behind == target.mappings.begin())
    return;
  const Mapping &stack = *(behind - 1);
  for (ThreadData &thread : threads)
    if (thread.stack_base && thread.stack_limit && stack.start < *thread.stack_limit &&
        *thread.stack_limit < *thread.stack_base && *thread.stack_base <= stack.end)
      thread.stack_limit = stack.start;
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
