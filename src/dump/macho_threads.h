// The threads of a Mach-O core: one LC_THREAD each, with records of registers; their numbers, which the format has no
// place for, come from a segment that createdump adds or a note of lldb's. Pure parsing. For dump/macho_core.cc.
#pragma once
#include "target/target.h"

namespace dnheap {

// Returns Architecture::unknown if the registers of that CPU (macho::cpu_…) are not known.
Architecture macho_architecture(u32 cpu);

// Reads the content of LC_THREAD, without its first 8 bytes. Registers are those that Windows' CONTEXT has, in its
// order, which runtime/compiled/registers.cc knows. Without them if the record is not there.
Thread read_macho_thread(u32 cpu, Bytes content);

constexpr Address without_signature(Address address, unsigned address_bits) {
  return address & ~u64{0} >> (64 - address_bits);
}

// Sets stack and instruction pointer, and removes signatures (arm64's pointer authentication) from the registers that
// hold places of code and of the stack.
void strip_signatures(Thread &thread, Architecture architecture, unsigned address_bits);

// createdump's segment: the process's number, and each thread's in the order of the commands.
struct MachoThreadInfo {
  static bool is(Address address, Bytes content);
  static std::optional<u64> pid(Bytes content);
  struct Row {
    u64 number = 0;
    Address stack_pointer = 0;
  };
  static std::optional<Row> row(Bytes content, u64 index);
};

} // namespace dnheap
