#include "runtime/vm/helper_method_layout.h"

namespace dnheap {

namespace {

constexpr u8 unix_registers[] = {12, 13, 14, 15, 3, 5};
constexpr u8 windows_registers[] = {7, 6, 3, 5, 12, 13, 14, 15};
constexpr u8 arm64_registers[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
constexpr u64 state = 48;

} // namespace

HelperMethodLayout::HelperMethodLayout(Architecture architecture, OperatingSystem os) {
  if (architecture == Architecture::arm64) {
    registers = arm64_registers;
    const u64 size = 8 * registers.size();
    captured = state;
    places = captured + size;
    ip = places + size;
    sp = ip + 8;
    known = sp + 8;
    known_size = 4;
    unwound = 0;
    captured_sp = known + 8;
    end = captured_sp + 16;
    return;
  }
  const bool is_windows = os == OperatingSystem::windows;
  registers = is_windows ? std::span<const u8>(windows_registers) : std::span<const u8>(unix_registers);
  const u64 size = 8 * registers.size();
  ip = state;
  sp = state + 8;
  captured = state + 16;
  places = captured + size;
  known = places + size; // address of the return address
  known_size = 8;
  unwound = is_windows ? 0 : known + 8;
  const u64 captured_ip = known + 8 + (is_windows ? 0 : size);
  captured_sp = captured_ip + 8;
  end = captured_sp + 8;
}

} // namespace dnheap
