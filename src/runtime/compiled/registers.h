// Registers: the known general registers of a thread at some frame, and where in memory each of them was saved; and the
// registers that a function preserves for its caller, by processor and operating system. Numbers are those of machine
// code: x64 rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15 (x86: the first eight); arm64 x0 to x28, fp, lr, sp.
// Plain data; any thread.
#pragma once
#include "target/target.h"

#include <array>
#include <optional>

namespace dnheap {

struct CallingConvention {
  Architecture architecture;
  OperatingSystem os;
  u8 register_count, stack_pointer, frame_pointer;
  u32 preserved;        // a bit per register that a function preserves
  u32 may_hold_objects; // of these: those in which callers keep references during a call
};

// Null: unknown. All systems except Windows count as Linux.
const CallingConvention *calling_convention(Architecture architecture, OperatingSystem os);

struct Registers {
  static constexpr unsigned most = 32;
  Address ip = 0;
  std::array<u64, most> value{};
  std::array<Address, most> saved_at{}; // 0: the value is still in the register, or its place is unknown
  u32 known = 0;                        // a bit per register

  bool knows(unsigned reg) const { return known >> reg & 1; }
  std::optional<u64> get(unsigned reg) const { return knows(reg) ? std::optional(value[reg]) : std::nullopt; }
  void set(unsigned reg, u64 to, Address at = 0) {
    value[reg] = to;
    saved_at[reg] = at;
    known |= u32{1} << reg;
  }
  void keep_only(u32 mask) { known &= mask; }
};

// Returns a thread's registers from the dump. Nullopt: the dump has none, or in an unknown order.
std::optional<Registers> registers_of(const Target &target, const Thread &thread);

} // namespace dnheap
