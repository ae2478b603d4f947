// What an expression of DWARF in call frame information gives: of a register where it lies, of a frame where it ends.
// Numbers, registers, memory, and simple operations on these; no branches, so it ends. See call_frame.h. Any thread.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "target/memory.h"

#include <functional>

namespace dnheap {

// `read_register`: by DWARF's numbers. `first`: what is on the stack when it begins, if anything.
ReadOutcome evaluate_frame_expression(const Memory &memory, Bytes expression,
                                      const std::function<std::optional<u64>(u64)> &read_register,
                                      std::optional<u64> first, u64 &result);

} // namespace dnheap
