#include "runtime/compiled/frame_expression.h"

#include "runtime/compiled/frame_bytes.h"

#include <array>

namespace dnheap {

namespace {

constexpr u64 most_values = 32;

enum : u8 {
  op_deref = 0x06,
  op_const1u = 0x08,
  op_const8s = 0x0f,
  op_constu = 0x10,
  op_consts = 0x11,
  op_dup = 0x12,
  op_and = 0x1a,
  op_minus = 0x1c,
  op_or = 0x21,
  op_plus = 0x22,
  op_plus_uconst = 0x23,
  op_shl = 0x24,
  op_shr = 0x25,
  op_eq = 0x29,
  op_ge = 0x2a,
  op_gt = 0x2b,
  op_le = 0x2c,
  op_lt = 0x2d,
  op_ne = 0x2e,
  op_lit0 = 0x30,
  op_lit31 = 0x4f,
  op_breg0 = 0x70,
  op_breg31 = 0x8f,
};

class StackMachine {
public:
  StackMachine(const Memory &memory, Bytes expression, const std::function<std::optional<u64>(u64)> &read_register)
      : memory_(memory), from_(expression, 0, memory.format()), read_register_(read_register) {}

  void push(u64 value) {
    if (count_ == most_values)
      return fail();
    values_[count_++] = value;
  }
  ReadOutcome run() {
    while (outcome_ && !from_.empty())
      step(from_.integer<u8>());
    if (outcome_ && (!from_.ok() || count_ == 0))
      fail();
    return outcome_;
  }
  u64 top() const { return values_[count_ - 1]; }

private:
  void fail() {
    if (outcome_)
      outcome_ = ReadOutcome::malformed("a function's call frame information has an unknown or invalid expression");
  }
  u64 pop() {
    if (count_ == 0) {
      fail();
      return 0;
    }
    return values_[--count_];
  }

  void step(u8 op) {
    if (op >= op_lit0 && op <= op_lit31)
      return push(op - op_lit0);
    if (op >= op_breg0 && op <= op_breg31)
      return push_register(op - op_breg0);
    if (op >= op_const1u && op <= op_consts)
      return push_constant(op);
    switch (op) {
    case op_deref: return push_memory(pop());
    case op_plus_uconst: return push(pop() + from_.uleb128());
    case op_dup: {
      const u64 value = pop();
      push(value);
      return push(value);
    }
    default: return push_combined(op);
    }
  }

  void push_register(u64 reg) {
    const i64 offset = from_.sleb128();
    const std::optional<u64> value = read_register_(reg);
    if (!value && outcome_)
      outcome_ = ReadOutcome::malformed("a register that call frame information needs is unknown");
    push(value.value_or(0) + static_cast<u64>(offset));
  }

  void push_constant(u8 op) {
    auto widened = [](auto value) { return static_cast<u64>(static_cast<i64>(value)); };
    switch (op) {
    case op_const1u: return push(from_.integer<u8>());
    case op_const1u + 1: return push(widened(static_cast<std::int8_t>(from_.integer<u8>())));
    case op_const1u + 2: return push(from_.integer<u16>());
    case op_const1u + 3: return push(widened(static_cast<std::int16_t>(from_.integer<u16>())));
    case op_const1u + 4: return push(from_.integer<u32>());
    case op_const1u + 5: return push(widened(static_cast<i32>(from_.integer<u32>())));
    case op_constu: return push(from_.uleb128());
    case op_consts: return push(static_cast<u64>(from_.sleb128()));
    default: return push(from_.integer<u64>()); // const8u, const8s
    }
  }

  void push_memory(Address at) {
    const std::optional<u64> value = memory_.try_pointer(at);
    if (!value && outcome_)
      outcome_ = ReadOutcome::missing(at);
    push(value.value_or(0));
  }

  void push_combined(u8 op) {
    const u64 b = pop(), a = pop();
    const i64 signed_a = static_cast<i64>(a), signed_b = static_cast<i64>(b);
    switch (op) {
    case op_and: return push(a & b);
    case op_or: return push(a | b);
    case op_plus: return push(a + b);
    case op_minus: return push(a - b);
    case op_shl: return push(b < 64 ? a << b : 0);
    case op_shr: return push(b < 64 ? a >> b : 0);
    case op_eq: return push(a == b);
    case op_ne: return push(a != b);
    case op_ge: return push(signed_a >= signed_b);
    case op_gt: return push(signed_a > signed_b);
    case op_le: return push(signed_a <= signed_b);
    case op_lt: return push(signed_a < signed_b);
    default: fail();
    }
  }

  const Memory &memory_;
  FrameBytes from_;
  const std::function<std::optional<u64>(u64)> &read_register_;
  std::array<u64, most_values> values_{};
  u64 count_ = 0;
  ReadOutcome outcome_;
};

} // namespace

ReadOutcome evaluate_frame_expression(const Memory &memory, Bytes expression,
                                      const std::function<std::optional<u64>(u64)> &read_register,
                                      std::optional<u64> first, u64 &result) {
  StackMachine machine(memory, expression, read_register);
  if (first)
    machine.push(*first);
  const ReadOutcome outcome = machine.run();
  if (outcome)
    result = machine.top();
  return outcome;
}

} // namespace dnheap
