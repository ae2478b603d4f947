// Where a CONTEXT, Windows' record of a thread's registers, has the values that a Thread stores: in minidumps, and of
// running processes. Plain data; any thread.
#pragma once
#include "target/target.h"

namespace dnheap {

struct ContextLayout {
  u16 processor; // PROCESSOR_ARCHITECTURE_…
  Architecture architecture;
  u8 pointer_size;
  u16 registers, count; // consecutive general registers
  u16 instruction_pointer, stack_pointer;
};

inline constexpr ContextLayout context_layouts[] = {
    {9, Architecture::x64, 8, 0x78, 17, 0xf8, 0x98},          {12, Architecture::arm64, 8, 0x08, 33, 0x108, 0x100},
    {0x8003, Architecture::arm64, 8, 0x08, 33, 0x108, 0x100}, // the first number that Breakpad used for arm64
    {0, Architecture::x86, 4, 0x9c, 11, 0xb8, 0xc4},          {5, Architecture::arm, 4, 0x04, 16, 0x40, 0x38},
};

// Returns null if there is none.
inline const ContextLayout *context_layout_of(Architecture architecture) {
  for (const ContextLayout &layout : context_layouts)
    if (layout.architecture == architecture)
      return &layout;
  return nullptr;
}

// Does nothing if `context` is too short.
inline void read_context(Thread &thread, Bytes context, const ContextLayout &layout) {
  const Format format{layout.pointer_size, ByteOrder::little};
  const u64 end = layout.registers + u64{layout.count} * layout.pointer_size;
  if (context.size() < end || context.size() < layout.instruction_pointer + 8u)
    return;
  auto word = [&](u64 offset) { return load_pointer(context.data() + offset, format); };
  thread.instruction_pointer = word(layout.instruction_pointer);
  thread.stack_pointer = word(layout.stack_pointer);
  for (u64 r = 0; r < layout.count; ++r)
    thread.registers.push_back(word(layout.registers + r * layout.pointer_size));
}

} // namespace dnheap
