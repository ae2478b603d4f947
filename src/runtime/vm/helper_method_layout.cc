#include "runtime/vm/helper_method_layout.h"

namespace dnheap {

namespace {

constexpr u8 unix_registers[] = {12, 13, 14, 15, 3, 5};
constexpr u8 windows_registers[] = {7, 6, 3, 5, 12, 13, 14, 15};

} // namespace

HelperMethodLayout::HelperMethodLayout(bool is_windows)
    : registers(is_windows ? std::span<const u8>(windows_registers) : std::span<const u8>(unix_registers)) {
  constexpr u64 state = 48;
  const u64 size = 8 * registers.size();
  ip = state;
  sp = state + 8;
  captured = state + 16;
  places = captured + size;
  return_place = places + size;
  unwound = is_windows ? 0 : return_place + 8;
  const u64 captured_ip = return_place + 8 + (is_windows ? 0 : size);
  captured_sp = captured_ip + 8;
  end = captured_sp + 8;
}

} // namespace dnheap
