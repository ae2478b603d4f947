#include "objects/stack_roots.h"

#include "base/text.h"
#include "objects/interrupted_thread.h"
#include "runtime/thread_registers.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 red_zone = 128;
constexpr u64 max_stack = 64 << 20; // bytes of one that are looked at
constexpr u64 least_page = 4096;

class StackScan {
public:
  StackScan(const Memory &memory, const ObjectAt &object_at, RootSet &to)
      : memory_(memory), object_at_(object_at), to_(to), format_(memory.format()) {}

  void registers(std::vector<u64> values, u32 number) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (u64 value : values)
      look_at(0, value, number);
  }

  void stack(Address start, Address end, u32 number) {
    const u64 p = format_.pointer_size;
    start = align_up(start, p);
    if (end - start > max_stack) {
      to_.problems.push_back("only the first " + bytes_text(max_stack) + " of a stack of " + bytes_text(end - start) +
                             " were looked at, of " + to_.threads[number - 1].text());
      end = start + max_stack;
    }
    u64 missing = end - std::min(start, end);
    const std::span<const Range> ranges = memory_.ranges(); // a hole is as large as a stack may be: none word by word
    auto range = std::partition_point(ranges.begin(), ranges.end(), [&](const Range &r) { return r.end() <= start; });
    for (; range != ranges.end() && range->address < end; ++range)
      missing -= known_part(align_up(std::max(start, range->address), p), std::min(end, range->end()), number);
    if (missing >= p)
      to_.problems.push_back(bytes_text(missing / p * p) + " of the stack of " + to_.threads[number - 1].text() +
                             " are not in this dump, so it may hold objects that are not shown");
  }

private:
  // Returns how many bytes were looked at: a process may not give all that it has.
  u64 known_part(Address at, Address end, u32 number) {
    const u64 p = format_.pointer_size;
    u64 looked_at = 0;
    while (at + p <= end) {
      const Bytes bytes = memory_.peek_up_to(at, end - at);
      const u64 words = bytes.size() / p;
      for (u64 i = 0; i < words; ++i)
        look_at(at + i * p, load_pointer(bytes.data() + i * p, format_), number);
      looked_at += words * p;
      at = words ? at + words * p : at / least_page * least_page + least_page;
    }
    return looked_at;
  }

  // A pointer into an object (a Span, a ref) holds it as well as one to its beginning.
  void look_at(Address slot, u64 value, u32 number) {
    const Address object = value ? object_at_(value) : 0;
    if (!object)
      return;
    Root root;
    root.slot = slot;
    root.object = object;
    root.interior = object != value;
    root.kind = RootKind::stack_conservative;
    root.thread = number;
    to_.roots.push_back(root);
  }

  const Memory &memory_;
  const ObjectAt &object_at_;
  RootSet &to_;
  const Format format_;
};

// What of a thread there is to be looked at.
struct ThreadStack {
  std::vector<u64> registers;
  Address start = 0, end = 0; // equal: where its stack lies is not known
  bool is_all = false;        // since it is not known how much of it is in use
};

std::optional<ThreadStack> stack_of(const Target &target, const ThreadData &thread) {
  const Thread *found = find_registers(target, thread);
  if (!found)
    return std::nullopt;
  ThreadStack out{found->registers};
  if (!thread.stack_base || !*thread.stack_base || !thread.stack_limit || *thread.stack_limit >= *thread.stack_base)
    return out;
  const Address limit = *thread.stack_limit;
  out.end = *thread.stack_base;
  Address from = found->stack_pointer;
  if (!in_stack(thread, from)) {
    std::optional<InterruptedThread> before = find_interrupted(target, *found, limit, out.end);
    out.is_all = !before;
    from = before ? before->stack_pointer : limit;
    if (before)
      out.registers.insert(out.registers.end(), before->registers.begin(), before->registers.end());
  }
  out.start = std::max(from - std::min(red_zone, from), from < limit + red_zone ? limit : Address{0});
  return out;
}

} // namespace

std::vector<std::pair<Address, Address>> scanned_stacks(const Target &target, std::span<const ThreadData> threads) {
  std::vector<std::pair<Address, Address>> out;
  for (const ThreadData &thread : threads)
    if (thread.os_id != u64{0})
      if (std::optional<ThreadStack> stack = stack_of(target, thread); stack && stack->start < stack->end)
        out.emplace_back(stack->start, std::min(stack->end, add_clamped(stack->start, max_stack)));
  return out;
}

void add_stack_roots(const Target &target, std::span<const ThreadData> threads, const ObjectAt &object_at,
                     RootSet &to) {
  if (target.threads.empty()) {
    to.problems.push_back("the stacks were not looked at: the dump says nothing of the threads' registers");
    return;
  }
  StackScan scan(target.memory, object_at, to);
  u64 unknown_stack = 0, unknown_registers = 0;
  for (u64 i = 0; i < threads.size(); ++i) {
    u32 number = static_cast<u32>(i + 1);
    if (threads[i].os_id == u64{0})
      continue; // has not started, or has ended
    std::optional<ThreadStack> stack = stack_of(target, threads[i]);
    if (!stack) {
      ++unknown_registers;
      continue;
    }
    scan.registers(stack->registers, number);
    if (stack->start == stack->end)
      ++unknown_stack;
    else
      scan.stack(stack->start, stack->end, number);
    if (stack->is_all)
      to.problems.push_back(to.threads[i].text() +
                            " is not on its own stack, as in the handler of a signal, and how much of that was in use "
                            "is not known: all of it was looked at, so it may seem to hold objects that it does not");
  }
  if (unknown_stack)
    to.problems.push_back("where the stacks of " + count_text(unknown_stack) +
                          " threads end is not known, so of those only the registers were looked at");
  if (unknown_registers)
    to.problems.push_back("of " + count_text(unknown_registers) +
                          " threads of the runtime the dump has no registers, so their stacks were not looked at");
}

} // namespace dnheap
