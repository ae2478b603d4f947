#include "graph/stack_roots.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 red_zone = 128;
constexpr u64 max_stack = 64 << 20; // bytes of one that are looked at
constexpr u64 least_page = 4096;

class StackScan {
public:
  StackScan(const Memory &memory, const IsObject &is_object, RootSet &to)
      : memory_(memory), is_object_(is_object), to_(to), format_(memory.format()) {}

  void registers(const Thread &thread, u32 number) {
    std::vector<u64> values = thread.registers;
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
  void look_at(Address slot, u64 value, u32 number) {
    if (value == 0 || value % 4 || !is_object_(value))
      return;
    Root root;
    root.slot = slot;
    root.object = value;
    root.kind = RootKind::stack_conservative;
    root.thread = number;
    to_.roots.push_back(root);
  }

  const Memory &memory_;
  const IsObject &is_object_;
  RootSet &to_;
  const Format format_;
};

bool in_stack(const ThreadData &thread, Address pointer) {
  return thread.stack_base && thread.stack_limit && *thread.stack_limit <= pointer && pointer < *thread.stack_base;
}

// By number; of a process in another namespace of numbers by the stack that the stack pointer points into.
const Thread *registers_of(const Target &target, const ThreadData &thread) {
  const Thread *by_stack = nullptr;
  for (const Thread &t : target.threads) {
    if (thread.os_id && t.id == *thread.os_id && (!thread.stack_base || in_stack(thread, t.stack_pointer)))
      return &t;
    if (in_stack(thread, t.stack_pointer))
      by_stack = &t;
  }
  return by_stack;
}

std::pair<Address, Address> used_part(const ThreadData &thread, const Thread &registers) {
  return {registers.stack_pointer - std::min(red_zone, registers.stack_pointer), *thread.stack_base};
}

} // namespace

std::vector<std::pair<Address, Address>> scanned_stacks(const Target &target, std::span<const ThreadData> threads) {
  std::vector<std::pair<Address, Address>> out;
  for (const ThreadData &thread : threads)
    if (thread.os_id != u64{0} && thread.stack_base)
      if (const Thread *found = registers_of(target, thread); found && in_stack(thread, found->stack_pointer)) {
        auto [start, end] = used_part(thread, *found);
        out.emplace_back(start, std::min(end, add_clamped(start, max_stack)));
      }
  return out;
}

void add_stack_roots(const Target &target, std::span<const ThreadData> threads, const IsObject &is_object,
                     RootSet &to) {
  if (target.threads.empty()) {
    to.problems.push_back("the stacks were not looked at: the dump says nothing of the threads' registers");
    return;
  }
  StackScan scan(target.memory, is_object, to);
  u64 unknown_stack = 0, unknown_registers = 0;
  for (u64 i = 0; i < threads.size(); ++i) {
    const ThreadData &thread = threads[i];
    u32 number = static_cast<u32>(i + 1);
    if (thread.os_id == u64{0})
      continue; // has not started, or has ended
    const Thread *found = registers_of(target, thread);
    if (found)
      scan.registers(*found, number);
    if (!thread.stack_base || !*thread.stack_base)
      unknown_stack += found != nullptr;
    else if (!found)
      ++unknown_registers;
    else if (in_stack(thread, found->stack_pointer)) {
      auto [start, end] = used_part(thread, *found);
      scan.stack(start, end, number);
    }
  }
  if (unknown_stack)
    to.problems.push_back("where the stacks of " + count_text(unknown_stack) +
                          " threads end is not known, so of those only the registers were looked at");
  if (unknown_registers)
    to.problems.push_back("of " + count_text(unknown_registers) +
                          " threads of the runtime the dump has no registers, so their stacks were not looked at");
}

} // namespace dnheap
