// CallFrame: how a function is left from one of its instructions, by DWARF's call frame information: from its registers
// to those of its caller, and where each register that it saved lies. What the rules are rests on the instruction
// alone, so whoever comes back to it may keep them. Expressions are followed as far as linkers' tables of calls and
// signals' return points need them. x64 and arm64 of Linux. Some 10 operations and reads each. Any thread. Format:
// DWARF 5, 6.4; registers by the processors' ABIs.
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
    value_offset,    // that is its value
    in_register,     // of the CFA: with an offset
    at_expression,   // what that gives is its place
    value_expression // … its value
  };
  Kind kind = Kind::unsaid;
  u64 reg = 0; // by DWARF's numbers
  i64 offset = 0;
  Bytes expression; // in what FunctionFrame keeps alive
};

struct CallFrame {
  static constexpr unsigned registers = 33; // general ones and the return address; of others nothing is kept
  FunctionFrame function;
  FrameRule cfa; // in_register or value_expression
  std::array<FrameRule, registers> rules;
  bool return_is_signed = false; // by arm64's pointer authentication
};

// The rules at an instruction of that function. Leaves `to` as it is where it does not succeed.
ReadOutcome read_call_frame(const FunctionFrame &function, Address address, Format format, CallFrame &to);

// Leaves the function. Where nobody called it, as the first one of a thread, registers.ip becomes 0. Leaves `registers`
// as they are where it does not succeed.
ReadOutcome leave_call_frame(const Memory &memory, const CallFrame &frame, const CallingConvention &convention,
                             Registers &registers);

} // namespace dnheap
