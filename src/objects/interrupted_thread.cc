#include "objects/interrupted_thread.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 looked_at = 256 << 10;                        // searched bytes of the handler's stack
constexpr u64 least_stack = 1 << 10, most_stack = 16 << 20; // bounds for the size of a signal stack
constexpr u64 guard = 64 << 10; // after an overflow the next frame would begin just below the limit

// The offsets of the general registers, the stack pointer and the instruction pointer in the kernel's struct ucontext.
struct UserContextLayout {
  Architecture architecture;
  u64 registers, count, stack_pointer, instruction_pointer;
};
constexpr UserContextLayout layouts[] = {
    {Architecture::x64, 40, 15, 160, 168},      {Architecture::x86, 36, 7, 48, 76},
    {Architecture::arm64, 184, 31, 432, 440},   {Architecture::arm, 32, 13, 84, 92},
    {Architecture::riscv64, 176, 32, 192, 176}, {Architecture::loongarch64, 184, 32, 208, 176},
};

class Frames {
public:
  Frames(const Memory &memory, const UserContextLayout &layout, Address limit, Address base)
      : memory_(memory), p_(memory.format().pointer_size), layout_(layout), limit_(limit), base_(base) {}

  // Reads {flags, link to another context (none), signal stack {address, flags, size}, …}. A sound one lies on the
  // signal stack that it names.
  std::optional<InterruptedThread> at(Address frame) const {
    const Address stack = peek(frame + 2 * p_);
    const u64 size = peek(frame + 4 * p_);
    if (frame < stack || size < least_stack || size > most_stack || frame - stack >= size || peek(frame + p_) != 0)
      return std::nullopt;
    const Address stack_pointer = peek(frame + layout_.stack_pointer);
    if (stack_pointer + guard < limit_ || stack_pointer >= base_ || stack_pointer % p_)
      return std::nullopt;
    InterruptedThread out{stack_pointer, peek(frame + layout_.instruction_pointer), {}};
    for (u64 i = 0; i < layout_.count; ++i)
      out.registers.push_back(peek(frame + layout_.registers + i * p_));
    memory_.note_read(frame, layout_.registers + layout_.count * p_);
    memory_.note_read(frame + layout_.stack_pointer, p_);
    memory_.note_read(frame + layout_.instruction_pointer, p_);
    return out;
  }
  // Returns 0 if the word is not in the dump.
  u64 peek(Address at) const {
    std::byte copy[8];
    std::span<std::byte> word(copy, p_);
    return memory_.peek(at, word) ? load_pointer(copy, memory_.format()) : 0;
  }

private:
  const Memory &memory_;
  const u64 p_;
  const UserContextLayout layout_;
  const Address limit_, base_;
};

} // namespace

std::optional<InterruptedThread> find_interrupted(const Target &target, const Thread &thread, Address limit,
                                                  Address base) {
  auto layout = std::find_if(std::begin(layouts), std::end(layouts),
                             [&](const UserContextLayout &l) { return l.architecture == target.architecture; });
  if (layout == std::end(layouts) || target.os != OperatingSystem::linux_os)
    return std::nullopt;
  const Frames frames(target.memory, *layout, limit, base);
  const u64 p = target.format().pointer_size;
  const Address start = align_up(thread.stack_pointer, p), end = add_clamped(start, looked_at);
  for (Address at = start; at < end; at += p)
    if (std::optional<InterruptedThread> found = frames.at(at))
      return found;
  for (Address at = start; at < end; at += p)
    if (Address frame = frames.peek(at); frame >= 0x1000 && frame % p == 0)
      if (std::optional<InterruptedThread> found = frames.at(frame)) {
        target.memory.note_read(at, p);
        return found;
      }
  for (u64 frame : thread.registers)
    if (frame >= 0x1000 && frame % p == 0)
      if (std::optional<InterruptedThread> found = frames.at(frame))
        return found;
  return std::nullopt;
}

} // namespace dnheap
