#include "runtime/compiled/signal_return.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u8 saved_ip = 254;

// The instructions of a return point, and the saved registers, in the kernel's order: a word each.
struct SignalReturn {
  Architecture architecture;
  u8 code_size;
  u8 code[9];
  u64 first_register; // offset from the stack pointer
  u8 count;
  u8 number[34]; // by machine code
};

constexpr SignalReturn signal_returns[] = {
    {Architecture::x64,
     9,
     {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, // mov rax, 15; syscall
     40,
     17,
     {8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1, 4, saved_ip}},
    {Architecture::arm64,
     8,
     {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, // mov x8, 139; svc 0
     312,
     33,
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,      16,
      17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, saved_ip}},
};

bool is_at(const Memory &memory, Address ip, const SignalReturn &one) {
  std::byte code[sizeof one.code];
  const std::span<std::byte> wanted = std::span(code).first(one.code_size);
  return memory.read(ip, wanted) && std::ranges::equal(wanted, std::as_bytes(std::span(one.code).first(one.code_size)));
}

bool restore(const Memory &memory, Address from, const SignalReturn &one, Registers &to) {
  for (unsigned i = 0; i < one.count; ++i) {
    const Address place = add_clamped(from, 8 * u64{i});
    const std::optional<u64> value = memory.try_pointer(place);
    if (!value)
      return false;
    if (one.number[i] == saved_ip)
      to.ip = *value;
    else
      to.set(one.number[i], *value, place);
  }
  return true;
}

} // namespace

bool leave_signal_return(const Memory &memory, const CallingConvention &convention, Registers &registers) {
  const std::optional<u64> sp = registers.get(convention.stack_pointer);
  if (!sp || convention.os == OperatingSystem::windows)
    return false;
  for (const SignalReturn &one : signal_returns) {
    Registers interrupted;
    if (one.architecture == convention.architecture && is_at(memory, registers.ip, one) &&
        restore(memory, add_clamped(*sp, one.first_register), one, interrupted)) {
      registers = interrupted;
      return true;
    }
  }
  return false;
}

} // namespace dnheap
