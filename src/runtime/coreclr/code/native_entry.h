// NativeEntry: a native function's frame, read from its first instructions: the caller's stack pointer, and the places
// of the caller's registers that it saved. For compilers that keep frame pointers (clang, GCC). Reads some ten
// instructions. Any thread.
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
  // Offsets from the frame pointer, which points at the caller's frame pointer, followed by the return address.
  i64 end = 16; // end of its frame: the caller's stack pointer
  std::vector<Saved> saved;
};

// Nullopt: the instructions are not in the dump, or the function begins in another way.
std::optional<NativeEntry> read_native_entry(const Memory &memory, const CallingConvention &convention, Address entry);

} // namespace dnheap
