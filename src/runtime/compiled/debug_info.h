// Debug info that the JIT writes beside a method's code: which IL instruction its code stands for, stretch by stretch;
// of runtime-async methods (11) what they keep at each await. Three formats: numbers in nibbles (.NET 8 and 9), packed
// bits (10), packed bits behind a header that says what else is there (11). Costs one pass over the entries, some
// hundred of a large method. Nothing is kept. Any thread. Format: dotnet/runtime src/coreclr/vm/debuginfostore.cpp; see
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
  // Before it stands a byte that says what lies between: of code that is compiled while the program runs, before 11.
  bool has_flags = false;
};

// From `native_offset` on, up to the next one, code stands for what begins at `il_offset`.
struct IlBoundary {
  // In the place of an IL offset: code that stands for none; what a method begins and ends with.
  static constexpr u32 none = 0xffffffff, prolog = 0xfffffffe, epilog = 0xfffffffd;

  u32 native_offset = 0, il_offset = 0;
  bool is_call = false; // of one call within a stretch, which it does not end

  bool operator==(const IlBoundary &) const = default;
};

// In the order of the code; empty: the method has none.
ReadOutcome read_il_boundaries(const Memory &memory, const DebugInfoPlace &place, std::vector<IlBoundary> &out);

// What a runtime-async method keeps in its Continuation while it is suspended at one of its awaits.
struct SavedLocal {
  u32 number = 0; // its arguments in their order, `this` first; behind them its local variables
  u32 offset = 0; // from the Continuation's first byte
  bool operator==(const SavedLocal &) const = default;
};
struct AwaitPoint {
  u32 native_offset = 0;
  std::vector<SavedLocal> saved;
  bool operator==(const AwaitPoint &) const = default;
};

// In the order of the code; empty: the method has none.
ReadOutcome read_await_points(const Memory &memory, const DebugInfoPlace &place, std::vector<AwaitPoint> &out);

// The IL instruction that the code at an offset stands for, as the runtime's own stack traces tell it: code that stands
// for none belongs to the method's first one (DebuggerJitInfo::MapNativeOffsetToIL). Nullopt: nothing is known of that
// offset.
std::optional<u32> il_offset_at(std::span<const IlBoundary> boundaries, u64 native_offset);

} // namespace dnheap
