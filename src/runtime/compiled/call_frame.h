// CallFrame: the rules to unwind a function from one of its instructions, by DWARF's call frame information: they turn
// its registers into those of its caller, and list where each saved register lies. The rules depend only on the
// instruction, so callers may cache them. Expressions are evaluated as far as linkers' call tables (PLTs) and signals'
// return points need them. x64 and arm64 of Linux. Some 10 operations and reads each. Any thread. Format: DWARF 5, 6.4;
// registers by the processors' ABIs.
#pragma once
#include "runtime/compiled/frame_records.h"
#include "runtime/compiled/read_outcome.h"
#include "runtime/compiled/registers.h"

#include <array>

namespace dnheap {

struct FrameRule {
  enum class Kind : u8 {
    unsaid,
    undefined,
    same,
    at_offset,       // in memory, relative to the CFA
    value_offset,    // CFA plus offset is the value
    in_register,     // for the CFA: a register plus an offset
    at_expression,   // the expression computes the address
    value_expression // the expression computes the value
  };
  Kind kind = Kind::unsaid;
  u64 reg = 0; // by DWARF's numbers
  i64 offset = 0;
  Bytes expression; // points into memory that FunctionFrame keeps alive
};

struct CallFrame {
  static constexpr unsigned registers = 33; // general registers and the return address; rules of others are dropped
  FunctionFrame function;
  FrameRule cfa; // in_register or value_expression
  std::array<FrameRule, registers> rules;
  bool return_is_signed = false; // signed by arm64's pointer authentication
};

// Computes the rules at an instruction of that function. Leaves `to` unchanged on failure.
ReadOutcome read_call_frame(const FunctionFrame &function, Address address, Format format, CallFrame &to);

// Unwinds the function. If it has no caller, as the first function of a thread, registers.ip becomes 0. Leaves
// `registers` unchanged on failure.
ReadOutcome leave_call_frame(const Memory &memory, const CallFrame &frame, const CallingConvention &convention,
                             Registers &registers);

} // namespace dnheap
