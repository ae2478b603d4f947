#include "runtime/compiled/frame_x86.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 longest_call = 7; // bytes
constexpr u64 largest_x86_frame = 1 << 20;
constexpr u64 x86_word = 4;
constexpr u8 near_call = 0xe8, indirect_call = 0xff;
constexpr u64 near_call_size = 5;

u8 byte_at(Bytes code, u64 at) { return std::to_integer<u8>(code[at]); }

// Returns the length of `call r/m32`, from its ModRM byte and the byte behind that.
u64 indirect_call_size(u8 form, u8 scale) {
  const unsigned mode = form >> 6, operand = form & 7;
  const u64 with_scale = mode != 3 && operand == 4;
  const bool is_absolute = mode == 0 && (operand == 5 || (with_scale && (scale & 7) == 5));
  const u64 displacement = mode == 1 ? 1 : mode == 2 || is_absolute ? 4 : 0;
  return 2 + with_scale + displacement;
}

bool is_indirect_call(Bytes code) {
  const u8 form = byte_at(code, 1);
  return byte_at(code, 0) == indirect_call && (form >> 3 & 7) == 2 &&
         indirect_call_size(form, code.size() > 2 ? byte_at(code, 2) : 0) == code.size();
}

bool is_return_address_x86(const Memory &memory, Address address, const std::function<bool(Address)> &is_code) {
  std::byte code[longest_call];
  if (address < longest_call)
    return false;
  const bool is_there = memory.read(address - longest_call, code) &&
                        std::ranges::any_of(code, [](std::byte one) { return one != std::byte{0}; });
  return is_there ? ends_with_call_x86(code) : is_code(address - 1); // some writers leave out code, or clear it
}

} // namespace

bool ends_with_call_x86(Bytes code) {
  if (code.size() >= near_call_size && byte_at(code, code.size() - near_call_size) == near_call)
    return true;
  for (u64 size = 2; size <= std::min<u64>(code.size(), longest_call); ++size)
    if (is_indirect_call(code.last(size)))
      return true;
  return false;
}

bool leave_frame_x86(const Memory &memory, const CallingConvention &convention, bool is_exact,
                     const std::function<bool(Address)> &is_code, Registers &registers) {
  const std::optional<u64> sp = registers.get(convention.stack_pointer), fp = registers.get(convention.frame_pointer);
  if (!sp)
    return false;
  const std::optional<u64> top = is_exact ? memory.try_pointer(*sp) : std::nullopt;
  if (top && is_return_address_x86(memory, *top, is_code)) {
    registers.keep_only(fp ? u32{1} << convention.frame_pointer : 0);
    registers.set(convention.stack_pointer, *sp + x86_word);
    registers.ip = *top;
    return true;
  }
  if (fp == 0u && !is_exact) {
    registers.ip = 0;
    return true;
  }
  if (!fp || *fp % x86_word || *fp < *sp || *fp - *sp > largest_x86_frame)
    return false;
  const std::optional<u64> next = memory.try_pointer(*fp), back = memory.try_pointer(*fp + x86_word);
  const bool is_first = next == 0u && back == 0u;
  if (!next || !back || (*next && *next <= *fp) || (!is_first && !is_return_address_x86(memory, *back, is_code)))
    return false;
  registers.keep_only(0);
  registers.set(convention.stack_pointer, *fp + 2 * x86_word);
  registers.set(convention.frame_pointer, *next, *fp);
  registers.ip = *back;
  return true;
}

} // namespace dnheap
