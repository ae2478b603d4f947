// Return points of signals without call frame information: the kernel's frame gives every register back; other
// instructions, and frames that are cut off, change nothing.
#include "runtime/compiled/signal_return.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

constexpr Address signal_code_at = 0x1000, signal_stack_at = 0x8000;

struct SignalFrame {
  Architecture architecture;
  std::vector<u8> code;
  u64 ip_at; // from the stack pointer, by the kernel's headers
  u64 size;
  std::map<u64, unsigned> numbers; // by offset
};

SignalFrame signal_frame_arm64() {
  SignalFrame out{Architecture::arm64, {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, 568, 576, {}};
  for (unsigned reg = 0; reg < 32; ++reg) // x0 to x30, sp
    out.numbers[312 + 8 * reg] = reg;
  return out;
}

SignalFrame signal_frame_x64() {
  SignalFrame out{Architecture::x64, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, 168, 176, {}};
  const unsigned order[] = {8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1, 4}; // r8 to r15, rdi, rsi, rbp, rbx, …
  for (unsigned i = 0; i < 16; ++i)
    out.numbers[40 + 8 * i] = order[i];
  return out;
}

bool leave(const SignalFrame &frame, const std::vector<u8> &code, u64 stack_size, Registers &registers) {
  std::vector<std::byte> stack(stack_size);
  for (u64 at = 0; at + 8 <= stack_size; at += 8) {
    const u64 value = 0x100000 + at;
    std::memcpy(stack.data() + at, &value, 8);
  }
  const Memory memory(Format{}, {{signal_code_at, std::as_bytes(std::span(code))}, {signal_stack_at, Bytes(stack)}});
  const CallingConvention &convention = *calling_convention(frame.architecture, OperatingSystem::linux_os);
  registers = {};
  registers.ip = signal_code_at;
  registers.set(convention.stack_pointer, signal_stack_at);
  return leave_signal_return(memory, convention, registers);
}

TEST(SignalReturn, EveryRegisterIsWhereTheKernelSavedIt) {
  for (const SignalFrame &frame : {signal_frame_arm64(), signal_frame_x64()}) {
    SCOPED_TRACE(frame.ip_at);
    Registers registers;
    ASSERT_TRUE(leave(frame, frame.code, frame.size, registers));
    EXPECT_EQ(registers.ip, 0x100000 + frame.ip_at);
    for (auto [at, number] : frame.numbers) {
      EXPECT_EQ(registers.get(number), 0x100000 + at);
      EXPECT_EQ(registers.saved_at[number], signal_stack_at + at);
    }
  }
}

TEST(SignalReturn, OtherCodeAndFramesThatAreCutOffChangeNothing) {
  for (const SignalFrame &frame : {signal_frame_arm64(), signal_frame_x64()})
    for (u64 stack_size = 0; stack_size < frame.size; stack_size += 8) {
      Registers registers;
      EXPECT_FALSE(leave(frame, frame.code, stack_size, registers)) << stack_size;
      EXPECT_EQ(registers.ip, signal_code_at);
      for (u64 i = 0; i < frame.code.size(); ++i) {
        std::vector<u8> other = frame.code;
        other[i] ^= 0x10;
        EXPECT_FALSE(leave(frame, other, frame.size, registers));
      }
    }
}

TEST(SignalReturn, OfOtherProcessorsNothingIsKnown) {
  SignalFrame frame = signal_frame_x64();
  frame.architecture = Architecture::arm64;
  Registers registers;
  EXPECT_FALSE(leave(frame, frame.code, 1024, registers));
}

} // namespace
} // namespace dnheap::test
