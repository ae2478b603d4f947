// Debug info that the JIT writes beside a method's code: the IL instruction of each range of code, and for
// runtime-async methods (11) the variables kept at each await. Three formats: numbers in nibbles (.NET 8 and 9), packed
// bits (10), packed bits after a header that lists the other parts (11). Costs one pass over the entries, some hundred
// for a large method. Nothing is kept. Any thread. Format: dotnet/runtime src/coreclr/vm/debuginfostore.cpp; see
// doc/contracts.md, DebugInfo.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "target/memory.h"

#include <optional>
#include <span>
#include <vector>

namespace dnheap {

enum class DebugInfoFormat : u8 { nibbles, packed, packed_with_sizes };

struct DebugInfoPlace {
  Address address = 0; // 0: the method has none
  DebugInfoFormat format = DebugInfoFormat::nibbles;
  // True for code compiled at run time before .NET 11: a byte of flags comes first, and lists the parts that lie before
  // the debug info.
  bool has_flags = false;
};

// The code from `native_offset` up to the next boundary belongs to the IL instruction at `il_offset`.
struct IlBoundary {
  // These values replace an IL offset: `none` for code that belongs to no IL instruction, the others for a method's
  // prolog and epilog.
  static constexpr u32 none = 0xffffffff, prolog = 0xfffffffe, epilog = 0xfffffffd;

  u32 native_offset = 0, il_offset = 0;
  bool is_call = false; // marks one call within a range, and does not end the range

  bool operator==(const IlBoundary &) const = default;
};

// Reads boundaries in the order of the code; empty: the method has none.
ReadOutcome read_il_boundaries(const Memory &memory, const DebugInfoPlace &place, std::vector<IlBoundary> &out);

// A variable that a runtime-async method keeps in its Continuation while it is suspended at one of its awaits.
struct SavedLocal {
  u32 number = 0; // arguments in their order, `this` first; then the local variables
  u32 offset = 0; // from the Continuation's first byte
  bool operator==(const SavedLocal &) const = default;
};
struct AwaitPoint {
  u32 native_offset = 0;
  std::vector<SavedLocal> saved;
  bool operator==(const AwaitPoint &) const = default;
};

// Reads await points in the order of the code; empty: the method has none.
ReadOutcome read_await_points(const Memory &memory, const DebugInfoPlace &place, std::vector<AwaitPoint> &out);

// Returns the IL instruction of the code at an offset, as the runtime's own stack traces do: code of no IL instruction
// counts for the method's first one (DebuggerJitInfo::MapNativeOffsetToIL). Nullopt: the offset is before all
// boundaries.
std::optional<u32> il_offset_at(std::span<const IlBoundary> boundaries, u64 native_offset);

} // namespace dnheap
