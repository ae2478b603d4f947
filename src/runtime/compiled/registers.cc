#include "runtime/compiled/registers.h"

namespace dnheap {

namespace {

constexpr u32 bits(std::initializer_list<unsigned> registers) {
  u32 out = 0;
  for (unsigned r : registers)
    out |= u32{1} << r;
  return out;
}

constexpr u32 unix_x64 = bits({3, 5, 12, 13, 14, 15});
constexpr u32 windows_x64 = unix_x64 | bits({6, 7});
constexpr u32 arm64_objects = bits({19, 20, 21, 22, 23, 24, 25, 26, 27, 28});
constexpr u32 arm64 = arm64_objects | bits({29});

constexpr u32 x86 = bits({3, 5, 6, 7});

constexpr CallingConvention conventions[] = {
    {Architecture::x86, OperatingSystem::windows, 8, 4, 5, x86, x86},
    {Architecture::x64, OperatingSystem::linux_os, 16, 4, 5, unix_x64, unix_x64},
    {Architecture::x64, OperatingSystem::windows, 16, 4, 5, windows_x64, windows_x64},
    {Architecture::arm64, OperatingSystem::linux_os, 32, 31, 29, arm64, arm64_objects},
    {Architecture::arm64, OperatingSystem::windows, 32, 31, 29, arm64, arm64_objects},
};

// Maps each word of the dump's record to the register's number in machine code; `ip` marks the instruction pointer.
constexpr u8 ip = 254, none = 255;
struct RecordOrder {
  Architecture architecture;
  u8 count;
  u8 order[34];
};
constexpr RecordOrder orders[] = {
    // NT_PRSTATUS of Linux
    {Architecture::x64, 27, {15, 14,   13, 12,   5,    3, 11,   10,   9,    8,    0,    1,    2,   6,
                             7,  none, ip, none, none, 4, none, none, none, none, none, none, none}},
    {Architecture::arm64, 34, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                               17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, ip, none}},
    // CONTEXT of Windows
    {Architecture::x86, 11, {7, 6, 3, 2, 1, 0, 5, ip, none, none, 4}},
    {Architecture::x64, 17, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ip}},
    {Architecture::arm64, 33, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                               17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, ip}},
};

} // namespace

const CallingConvention *calling_convention(Architecture architecture, OperatingSystem os) {
  const OperatingSystem kind = os == OperatingSystem::windows ? os : OperatingSystem::linux_os;
  for (const CallingConvention &convention : conventions)
    if (convention.architecture == architecture && convention.os == kind)
      return &convention;
  return nullptr;
}

std::optional<Registers> registers_of(const Target &target, const Thread &thread) {
  for (const RecordOrder &record : orders) {
    if (record.architecture != target.architecture || record.count != thread.registers.size())
      continue;
    Registers out;
    for (unsigned i = 0; i < record.count; ++i)
      if (record.order[i] == ip)
        out.ip = thread.registers[i];
      else if (record.order[i] != none)
        out.set(record.order[i], thread.registers[i]);
    return out;
  }
  return std::nullopt;
}

} // namespace dnheap
