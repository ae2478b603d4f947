// Evaluates a DWARF expression in call frame information, for the place of a register or the end of a frame. Supports
// numbers, registers, memory, and simple operations on these; no branches, so it always ends. See call_frame.h. Any
// thread.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "target/memory.h"

#include <functional>

namespace dnheap {

// `read_register` takes DWARF's numbers. `first`: the initial value on the stack, if any.
ReadOutcome evaluate_frame_expression(const Memory &memory, Bytes expression,
                                      const std::function<std::optional<u64>(u64)> &read_register,
                                      std::optional<u64> first, u64 &result);

} // namespace dnheap
