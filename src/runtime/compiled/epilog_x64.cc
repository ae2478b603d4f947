#include "runtime/compiled/epilog_x64.h"

namespace dnheap {

namespace {

constexpr unsigned rsp = 4;
constexpr unsigned most_pops = 16;

// An epilog: [add rsp, number | lea rsp, [register + number]] [pop register]… ret | jmp to another function.
class Epilog {
public:
  Epilog(const Memory &memory, const Registers &registers) : r(registers), memory_(memory) {}

  bool leave(Address function_start, Address function_end) {
    if (!free_frame())
      return false;
    for (unsigned i = 0; i < most_pops; ++i)
      if (!pop())
        break;
    return is_return() || jumps_out(function_start, function_end) ? load_return() : false;
  }
  Registers r;

private:
  const Memory &memory_;
  std::optional<u8> byte(u64 at) const { return memory_.try_load<u8>(r.ip + at); }
  bool is(u64 at, u8 value) const { return byte(at) == value; }
  std::optional<i64> number(u64 at, unsigned size) const {
    if (size == 1) {
      std::optional<u8> value = byte(at);
      return value ? std::optional<i64>(static_cast<std::int8_t>(*value)) : std::nullopt;
    }
    std::optional<u32> value = memory_.try_load<u32>(r.ip + at);
    return value ? std::optional<i64>(static_cast<i32>(*value)) : std::nullopt;
  }
  void go_on(u64 size) { r.ip += size; }

  // False: the instruction may free the frame, but its form is unknown.
  bool free_frame() {
    const std::optional<u8> rex = byte(0), opcode = byte(1), mode = byte(2);
    if (!rex || (*rex & 0xf8) != 0x48 || !opcode || !mode)
      return true;
    if (*rex == 0x48 && (*opcode == 0x83 || *opcode == 0x81) && *mode == 0xc4)
      return add(*opcode == 0x83 ? 1 : 4, 3, r.get(rsp));
    if (*opcode == 0x8d && (*mode & 0x38) == 0x20 && (*rex & 6) == 0) { // lea rsp, [register + number]
      const unsigned base = (*mode & 7) | (*rex & 1) << 3, form = *mode >> 6;
      if (base % 8 == 4 || form == 3 || form == 0)
        return false;
      return add(form == 1 ? 1 : 4, 3, r.get(base));
    }
    return true;
  }
  bool add(unsigned size, u64 at, std::optional<u64> to) {
    const std::optional<i64> value = number(at, size);
    if (!value || !to)
      return false;
    r.set(rsp, *to + static_cast<u64>(*value));
    go_on(at + size);
    return true;
  }
  bool pop() {
    const std::optional<u8> first = byte(0);
    if (!first)
      return false;
    const bool has_rex = (*first & 0xf0) == 0x40;
    const std::optional<u8> opcode = has_rex ? byte(1) : first;
    if (!opcode || (*opcode & 0xf8) != 0x58)
      return false;
    const unsigned reg = (*opcode & 7) | (has_rex && *first & 1 ? 8u : 0u);
    const Address at = r.value[rsp];
    const std::optional<u64> value = memory_.try_load<u64>(at);
    if (!value || reg == rsp)
      return false;
    r.set(reg, *value, at);
    r.set(rsp, at + 8);
    go_on(has_rex ? 2 : 1);
    return true;
  }
  bool is_return() const { return is(0, 0xc3) || (is(0, 0xf3) && is(1, 0xc3)) || is(0, 0xc2); }
  // A jump within the function does not end it.
  bool jumps_out(Address start, Address end) const {
    const std::optional<i64> near = is(0, 0xeb) ? number(1, 1) : is(0, 0xe9) ? number(1, 4) : std::nullopt;
    if (near) {
      const Address to = r.ip + (is(0, 0xeb) ? 2 : 5) + static_cast<u64>(*near);
      return to < start || to >= end;
    }
    const u64 rex = is(0, 0x48) ? 1 : 0; // jmp through a register or memory, as in tail calls
    const std::optional<u8> mode = byte(rex + 1);
    if (!is(rex, 0xff) || !mode || (*mode & 0x38) != 0x20)
      return false;
    return *mode == 0x25 || rex == 1;
  }
  bool load_return() {
    const std::optional<u64> to = memory_.try_load<u64>(r.value[rsp]);
    if (!to)
      return false;
    r.ip = *to;
    r.set(rsp, r.value[rsp] + 8);
    return true;
  }
};

} // namespace

std::optional<Registers> leave_epilog_x64(const Memory &memory, Address function_start, Address function_end,
                                          const Registers &registers) {
  if (!registers.knows(rsp))
    return std::nullopt;
  Epilog epilog(memory, registers);
  if (!epilog.leave(function_start, function_end))
    return std::nullopt;
  return epilog.r;
}

} // namespace dnheap
