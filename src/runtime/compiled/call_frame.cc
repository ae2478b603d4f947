#include "runtime/compiled/call_frame.h"

#include "runtime/compiled/frame_bytes.h"
#include "runtime/compiled/frame_expression.h"

namespace dnheap {

namespace {

constexpr u64 most_remembered = 64;
constexpr u64 arm64_link_register = 30;
constexpr u64 arm64_address = (u64{1} << 48) - 1; // address bits that the kernel gives programs by default
constexpr const char *unknown_register = "a register that call frame information needs is unknown";

enum : u8 {
  cfa_advance_loc = 0x40, // with six bits of operand, as the next two
  cfa_offset = 0x80,
  cfa_restore = 0xc0,
  cfa_nop = 0x00,
  cfa_advance_loc1 = 0x02,
  cfa_advance_loc2 = 0x03,
  cfa_advance_loc4 = 0x04,
  cfa_offset_extended = 0x05,
  cfa_restore_extended = 0x06,
  cfa_undefined = 0x07,
  cfa_same_value = 0x08,
  cfa_register = 0x09,
  cfa_remember_state = 0x0a,
  cfa_restore_state = 0x0b,
  cfa_def_cfa = 0x0c,
  cfa_def_cfa_register = 0x0d,
  cfa_def_cfa_offset = 0x0e,
  cfa_def_cfa_expression = 0x0f,
  cfa_expression = 0x10,
  cfa_offset_extended_sf = 0x11,
  cfa_def_cfa_sf = 0x12,
  cfa_def_cfa_offset_sf = 0x13,
  cfa_val_offset = 0x14,
  cfa_val_offset_sf = 0x15,
  cfa_val_expression = 0x16,
  cfa_aarch64_negate_ra_state_with_pc = 0x2c,
  cfa_aarch64_negate_ra_state = 0x2d,
  cfa_gnu_args_size = 0x2e,
  cfa_gnu_negative_offset_extended = 0x2f,
};

struct Rules {
  FrameRule cfa;
  std::array<FrameRule, CallFrame::registers> of;
  bool return_is_signed = false;
};

using Kind = FrameRule::Kind;

// Executes call frame instructions up to an address.
class RuleProgram {
public:
  RuleProgram(const FunctionFrame &function, Address until, Format format)
      : function_(function), until_(until), format_(format), at_(function.start) {}

  bool run(Bytes instructions) {
    FrameBytes from(instructions, 0, format_);
    while (ok_ && !from.empty() && !is_past(from)) {
    }
    return ok_ && from.ok();
  }
  void note_initial() { initial_ = now; }

  Rules now;

private:
  // Executes one instruction. True if it leads past the address.
  bool is_past(FrameBytes &from) {
    constexpr u8 operand = 0x3f;
    const u8 op = from.integer<u8>();
    switch (op & ~operand) {
    case cfa_advance_loc: return advance(op & operand);
    case cfa_offset: set(op & operand, Kind::at_offset, factored(from.uleb128())); return false;
    case cfa_restore: restore(op & operand); return false;
    default: break;
    }
    switch (op) {
    case cfa_advance_loc1: return advance(from.integer<u8>());
    case cfa_advance_loc2: return advance(from.integer<u16>());
    case cfa_advance_loc4: return advance(from.integer<u32>());
    default: break;
    }
    if (!set_cfa(op, from) && !set_register(op, from))
      set_other(op, from);
    return false;
  }

  bool advance(u64 delta) {
    at_ = add_clamped(at_, delta * std::min<u64>(function_.code_alignment, 16));
    return at_ > until_;
  }
  i64 factored(u64 offset) const { return static_cast<i64>(offset * static_cast<u64>(function_.data_alignment)); }
  i64 factored(i64 offset) const { return factored(static_cast<u64>(offset)); }

  void set(u64 reg, Kind kind, i64 offset = 0, Bytes expression = {}, u64 other = 0) {
    if (reg < now.of.size())
      now.of[reg] = {kind, other, offset, expression};
  }
  void restore(u64 reg) {
    if (reg < now.of.size())
      now.of[reg] = initial_.of[reg];
  }
  static Bytes block(FrameBytes &from) { return from.bytes(from.uleb128()); }

  bool set_cfa(u8 op, FrameBytes &from) {
    switch (op) {
    case cfa_def_cfa:
    case cfa_def_cfa_sf: {
      const u64 reg = from.uleb128();
      const i64 offset = op == cfa_def_cfa ? static_cast<i64>(from.uleb128()) : factored(from.sleb128());
      now.cfa = {Kind::in_register, reg, offset, {}};
      return true;
    }
    case cfa_def_cfa_register: now.cfa.reg = from.uleb128(); break;
    case cfa_def_cfa_offset: now.cfa.offset = static_cast<i64>(from.uleb128()); break;
    case cfa_def_cfa_offset_sf: now.cfa.offset = factored(from.sleb128()); break;
    case cfa_def_cfa_expression: now.cfa = {Kind::value_expression, 0, 0, block(from)}; return true;
    default: return false;
    }
    ok_ = ok_ && now.cfa.kind == Kind::in_register; // else there is no register or offset to change
    return true;
  }

  bool set_register(u8 op, FrameBytes &from) {
    const bool takes_register = (op >= cfa_offset_extended && op <= cfa_register) || op == cfa_expression ||
                                op == cfa_offset_extended_sf || (op >= cfa_val_offset && op <= cfa_val_expression) ||
                                op == cfa_gnu_negative_offset_extended;
    if (!takes_register)
      return false;
    const u64 reg = from.uleb128();
    switch (op) {
    case cfa_offset_extended: set(reg, Kind::at_offset, factored(from.uleb128())); break;
    case cfa_offset_extended_sf: set(reg, Kind::at_offset, factored(from.sleb128())); break;
    case cfa_gnu_negative_offset_extended: set(reg, Kind::at_offset, -factored(from.uleb128())); break;
    case cfa_val_offset: set(reg, Kind::value_offset, factored(from.uleb128())); break;
    case cfa_val_offset_sf: set(reg, Kind::value_offset, factored(from.sleb128())); break;
    case cfa_restore_extended: restore(reg); break;
    case cfa_undefined: set(reg, Kind::undefined); break;
    case cfa_same_value: set(reg, Kind::same); break;
    case cfa_register: set(reg, Kind::in_register, 0, {}, from.uleb128()); break;
    case cfa_expression: set(reg, Kind::at_expression, 0, block(from)); break;
    case cfa_val_expression: set(reg, Kind::value_expression, 0, block(from)); break;
    default: break;
    }
    return true;
  }

  void set_other(u8 op, FrameBytes &from) {
    switch (op) {
    case cfa_nop: return;
    case cfa_gnu_args_size: from.uleb128(); return;
    case cfa_aarch64_negate_ra_state:
    case cfa_aarch64_negate_ra_state_with_pc:
      ok_ = ok_ && function_.return_register == arm64_link_register;
      now.return_is_signed = !now.return_is_signed;
      return;
    case cfa_remember_state:
      ok_ = ok_ && remembered_.size() < most_remembered;
      if (ok_)
        remembered_.push_back(now);
      return;
    case cfa_restore_state:
      ok_ = ok_ && !remembered_.empty();
      if (ok_) {
        now = remembered_.back();
        remembered_.pop_back();
      }
      return;
    default: ok_ = false;
    }
  }

  const FunctionFrame &function_;
  const Address until_;
  const Format format_;
  Address at_;
  Rules initial_;
  std::vector<Rules> remembered_;
  bool ok_ = true;
};

// Maps DWARF's register numbers to those of machine code.
constexpr u8 instruction_pointer = 254;
struct RegisterNumbers {
  Architecture architecture;
  u8 count;
  u8 number[32];
};
constexpr RegisterNumbers numbers[] = {
    {Architecture::x64, 17, {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15, instruction_pointer}},
    {Architecture::arm64, 32, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                               16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
};

const RegisterNumbers *numbers_of(Architecture architecture) {
  for (const RegisterNumbers &one : numbers)
    if (one.architecture == architecture)
      return &one;
  return nullptr;
}

class Leaving {
public:
  Leaving(const Memory &memory, const CallFrame &frame, const CallingConvention &convention,
          const RegisterNumbers &names, const Registers &before)
      : out(before), memory_(memory), frame_(frame), convention_(convention), names_(names), before_(before) {}

  ReadOutcome run() {
    const std::optional<u64> cfa = cfa_value();
    if (!cfa)
      return outcome_;
    cfa_ = *cfa;
    out.keep_only(convention_.preserved);
    out.set(convention_.stack_pointer, cfa_);
    for (u64 reg = 0; reg < names_.count; ++reg)
      if (names_.number[reg] != instruction_pointer)
        leave_register(reg);
    leave_for_caller();
    if (outcome_ && !out.knows(convention_.stack_pointer))
      outcome_ = ReadOutcome::malformed(unknown_register);
    return outcome_;
  }

  Registers out;

private:
  struct Found {
    u64 value;
    Address at = 0;
  };

  std::optional<u64> read_register(u64 reg) const {
    if (reg >= names_.count)
      return std::nullopt;
    return names_.number[reg] == instruction_pointer ? std::optional(before_.ip) : before_.get(names_.number[reg]);
  }
  std::optional<u64> evaluate(Bytes expression, std::optional<u64> first) {
    u64 result = 0;
    const ReadOutcome outcome = evaluate_frame_expression(
        memory_, expression, [this](u64 reg) { return read_register(reg); }, first, result);
    if (!outcome && outcome_)
      outcome_ = outcome;
    return outcome ? std::optional(result) : std::nullopt;
  }

  std::optional<u64> cfa_value() {
    const FrameRule &rule = frame_.cfa;
    if (rule.kind == Kind::value_expression)
      return evaluate(rule.expression, {});
    const std::optional<u64> value = rule.kind == Kind::in_register ? read_register(rule.reg) : std::nullopt;
    if (!value) {
      outcome_ = ReadOutcome::malformed(unknown_register);
      return std::nullopt;
    }
    return *value + static_cast<u64>(rule.offset);
  }

  std::optional<Found> loaded(Address at) const {
    const std::optional<u64> value = memory_.try_pointer(at);
    return value ? std::optional(Found{*value, at}) : std::nullopt;
  }
  static std::optional<Found> computed(std::optional<u64> value) {
    return value ? std::optional(Found{*value}) : std::nullopt;
  }

  // Returns the value that a rule gives; nullopt: unknown. `missing_` is the address that was read in memory.
  std::optional<Found> value_of(const FrameRule &rule) {
    switch (rule.kind) {
    case Kind::at_offset: missing_ = cfa_ + static_cast<u64>(rule.offset); return loaded(missing_);
    case Kind::value_offset: return Found{cfa_ + static_cast<u64>(rule.offset)};
    case Kind::in_register: return computed(read_register(rule.reg));
    case Kind::value_expression: return computed(evaluate(rule.expression, cfa_));
    case Kind::at_expression:
      if (const std::optional<u64> at = evaluate(rule.expression, cfa_)) {
        missing_ = *at;
        return loaded(*at);
      }
      return std::nullopt;
    default: return std::nullopt;
    }
  }

  // Returns a return address without the signature in its upper bits, which arm64's pointer authentication adds.
  u64 without_signature(u64 value) const { return frame_.return_is_signed ? value & arm64_address : value; }

  // An unknown register is an error only for callers that need it.
  void leave_register(u64 reg) {
    const FrameRule &rule = frame_.rules[reg];
    const u8 number = names_.number[reg];
    if (rule.kind == Kind::unsaid)
      return;
    if (rule.kind == Kind::same) {
      if (before_.knows(number))
        out.set(number, before_.value[number], before_.saved_at[number]);
      return;
    }
    if (const std::optional<Found> found = value_of(rule))
      out.set(number, reg == frame_.function.return_register ? without_signature(found->value) : found->value,
              found->at);
    else
      out.keep_only(~(u32{1} << number));
  }

  void leave_for_caller() {
    const u64 reg = frame_.function.return_register;
    if (!outcome_)
      return;
    if (reg >= frame_.rules.size() || reg >= names_.count) {
      outcome_ =
          ReadOutcome::malformed("a function's call frame information does not show where the function returns to");
      return;
    }
    const FrameRule &rule = frame_.rules[reg];
    missing_ = 0;
    std::optional<Found> found;
    if (rule.kind == Kind::undefined)
      found = Found{0};
    else if (rule.kind == Kind::unsaid || rule.kind == Kind::same) // the address is still in a register
      found = names_.number[reg] == instruction_pointer ? std::nullopt : computed(read_register(reg));
    else
      found = value_of(rule);
    if (found)
      out.ip = without_signature(found->value);
    else if (outcome_)
      outcome_ = missing_ ? ReadOutcome::missing(missing_)
                          : ReadOutcome::malformed(
                                "a function's call frame information does not show where the function returns to");
  }

  const Memory &memory_;
  const CallFrame &frame_;
  const CallingConvention &convention_;
  const RegisterNumbers &names_;
  const Registers &before_;
  Address cfa_ = 0, missing_ = 0;
  ReadOutcome outcome_;
};

} // namespace

ReadOutcome read_call_frame(const FunctionFrame &function, Address address, Format format, CallFrame &to) {
  RuleProgram program(function, address, format);
  bool ok = program.run(function.shared);
  program.note_initial();
  ok = ok && program.run(function.own);
  if (!ok)
    return ReadOutcome::malformed("a function's call frame information breaks the rules of its format");
  to.function = function;
  to.cfa = program.now.cfa;
  to.rules = program.now.of;
  to.return_is_signed = program.now.return_is_signed;
  return {};
}

ReadOutcome leave_call_frame(const Memory &memory, const CallFrame &frame, const CallingConvention &convention,
                             Registers &registers) {
  const RegisterNumbers *names =
      convention.os == OperatingSystem::windows ? nullptr : numbers_of(convention.architecture);
  if (!names)
    return ReadOutcome::malformed("call frame information of this processor is not understood");
  Leaving leaving(memory, frame, convention, *names, registers);
  const ReadOutcome outcome = leaving.run();
  if (outcome)
    registers = leaving.out;
  return outcome;
}

} // namespace dnheap
