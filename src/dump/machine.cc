#include "dump/machine.h"

#include "image/elf_format.h"

namespace dnheap {

namespace {

struct Machine {
  u16 number;
  Architecture architecture;
};
constexpr Machine machines[] = {
    {elf::machine_x64, Architecture::x64},       {elf::machine_x86, Architecture::x86},
    {elf::machine_arm64, Architecture::arm64},   {elf::machine_arm, Architecture::arm},
    {elf::machine_riscv, Architecture::riscv64}, {elf::machine_loongarch, Architecture::loongarch64},
    {elf::machine_s390, Architecture::s390x},    {elf::machine_ppc64, Architecture::ppc64},
};

// The number of words in the register set, and the positions of special registers.
struct RegisterLayout {
  u16 machine;
  u8 pointer_size;
  u8 count;
  u8 instruction_pointer, stack_pointer;
};
constexpr RegisterLayout register_layouts[] = {
    {elf::machine_x64, 8, 27, 16, 19}, {elf::machine_arm64, 8, 34, 32, 31}, {elf::machine_x86, 4, 17, 12, 15},
    {elf::machine_arm, 4, 18, 15, 13}, {elf::machine_riscv, 8, 32, 0, 2},   {elf::machine_loongarch, 8, 45, 33, 3},
    {elf::machine_s390, 8, 27, 1, 17}, {elf::machine_ppc64, 8, 48, 32, 1},
};

} // namespace

Architecture architecture_of(u16 number) {
  for (const Machine &machine : machines)
    if (machine.number == number)
      return machine.architecture;
  return Architecture::unknown;
}

u16 machine_number(Architecture architecture) {
  for (const Machine &machine : machines)
    if (machine.architecture == architecture)
      return machine.number;
  return 0;
}

std::optional<u64> register_count(u16 machine, Format format) {
  for (const RegisterLayout &layout : register_layouts)
    if (layout.machine == machine && layout.pointer_size == format.pointer_size)
      return layout.count;
  return std::nullopt;
}

void read_registers(Thread &thread, Bytes set, u16 machine, Format format) {
  for (const RegisterLayout &layout : register_layouts) {
    if (layout.machine != machine || layout.pointer_size != format.pointer_size)
      continue;
    for (u64 i = 0; i < layout.count; ++i)
      if (Bytes at = slice(set, i * format.pointer_size, format.pointer_size); !at.empty())
        thread.registers.push_back(load_pointer(at.data(), format));
    if (thread.registers.size() == layout.count) {
      thread.instruction_pointer = thread.registers[layout.instruction_pointer];
      thread.stack_pointer = thread.registers[layout.stack_pointer];
    }
  }
}

} // namespace dnheap
