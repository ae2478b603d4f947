// NativeEntry: a native function's frame, by its first instructions: where its caller's stack pointer stood, and where
// it saved which of the registers that are the caller's. For compilers that keep frame pointers (clang, GCC). Some ten
// instructions are read. Any thread.
#pragma once
#include "runtime/compiled/registers.h"

#include <optional>
#include <vector>

namespace dnheap {

struct NativeEntry {
  struct Saved {
    u8 reg;
    i64 at;
  };
  // Behind the frame pointer, at which the caller's lies, and then where the function returns to.
  i64 end = 16; // of its frame: the caller's stack pointer
  std::vector<Saved> saved;
};

// Nullopt: the dump lacks them, or the function begins in another way.
std::optional<NativeEntry> read_native_entry(const Memory &memory, const CallingConvention &convention, Address entry);

} // namespace dnheap
