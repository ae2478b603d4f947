#include "analysis/process/thread_memory.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 stack_page = 4096;

struct StackBlock {
  Address start = 0, end = 0;
};

// Finds the block with stack and record from three words of glibc's struct pthread: its start, its size, and the size
// of its guard. They come after the record's head; at 0x690 in 2.31 to 2.43.
std::optional<StackBlock> find_block(const Memory &memory, Address record) {
  constexpr u64 first = 128, last = 0xa00, most = u64{4} << 30, most_record = 64 << 10;
  if (memory.try_load<u64>(record) != record || memory.try_load<u64>(record + 16) != record)
    return std::nullopt;
  for (u64 at = first; at < last; at += 8) {
    const std::optional<u64> block = memory.try_load<u64>(record + at), size = memory.try_load<u64>(record + at + 8),
                             guard = memory.try_load<u64>(record + at + 16);
    if (!block || !size || !guard)
      return std::nullopt;
    if (*block == 0 || *block % stack_page || *size == 0 || *size % stack_page || *size > most || *guard >= *size ||
        *guard % stack_page || *block >= record || record - *block >= *size || *size - (record - *block) > most_record)
      continue;
    return StackBlock{*block + *guard, *block + *size};
  }
  return std::nullopt;
}

// Finds the block from musl's struct pthread (1.2; older ones have one word more before it). The struct begins with its
// own address; after the thread's id come the mapping with guard, stack and record, the stack's end, its size, and that
// of the guard. For the first thread they are 0.
std::optional<StackBlock> find_block_of_musl(const Memory &memory, Address record) {
  if (memory.try_load<u64>(record) != record)
    return std::nullopt;
  for (const u64 id : {u64{48}, u64{56}}) {
    const Address at = record + id + 24;
    const u64 base = memory.try_load<u64>(at).value_or(0), size = memory.try_load<u64>(at + 8).value_or(0),
              stack = memory.try_load<u64>(at + 16).value_or(0), stack_size = memory.try_load<u64>(at + 24).value_or(0),
              guard = memory.try_load<u64>(at + 32).value_or(0);
    if (base && base % stack_page == 0 && base <= record && record - base < size && guard < size && stack > base &&
        stack - base < size && stack - stack_size == base + guard)
      return StackBlock{base + guard, base + size};
  }
  return std::nullopt;
}

// Returns the mapping that contains the stack pointer, or the range of known bytes if the container has no mappings.
std::optional<StackBlock> mapping_of_stack(const Target &target, Address stack_pointer) {
  auto after = std::upper_bound(target.mappings.begin(), target.mappings.end(), stack_pointer,
                                [](Address at, const Mapping &mapping) { return at < mapping.start; });
  if (after != target.mappings.begin())
    if (const Mapping &mapping = *std::prev(after); stack_pointer < mapping.end && mapping.writable)
      return StackBlock{mapping.start, mapping.end};
  if (target.mappings.empty())
    if (const Range *range = target.memory.find(stack_pointer))
      return StackBlock{range->address, range->end()};
  return std::nullopt;
}

} // namespace

Address thread_record(const Target &target, const Thread &thread) {
  constexpr u64 registers = 27, fs_base = 21; // numbers of x64 registers, as Linux lists them
  const bool is_known = target.architecture == Architecture::x64 && target.os == OperatingSystem::linux_os &&
                        thread.registers.size() == registers;
  return is_known ? thread.registers[fs_base] : 0;
}

std::vector<ThreadMemory> find_thread_memory(const Target &target) {
  std::vector<ThreadMemory> out;
  for (const Thread &thread : target.threads) {
    if (!thread.stack_pointer)
      continue;
    ThreadMemory memory{.thread = thread.id};
    std::optional<StackBlock> block;
    if (const Address record = thread_record(target, thread)) {
      block = find_block(target.memory, record);
      if (!block)
        block = find_block_of_musl(target.memory, record);
    }
    memory.is_certain = block && thread.stack_pointer >= block->start && thread.stack_pointer < block->end;
    if (!memory.is_certain)
      block = mapping_of_stack(target, thread.stack_pointer);
    if (!block)
      continue;
    memory.start = block->start;
    memory.end = block->end;
    memory.in_use = std::max(block->start, thread.stack_pointer / stack_page * stack_page);
    out.push_back(memory);
  }
  return out;
}

} // namespace dnheap
