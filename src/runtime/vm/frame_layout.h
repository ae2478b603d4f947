// FrameLayout: where the runtime's records on stacks keep what, by processor: a thread's registers in a CONTEXT, and
// what is the same in all versions, so that no target need publish it. Plain data. pal/inc/pal.h and vm/frames.h of
// dotnet/runtime; seen in memory of 8.0 to 11.0 on x64, of 9.0 to 11.0 on arm64, of 10.0 on x86.
#pragma once
#include "target/target.h"

namespace dnheap {

struct FrameLayout {
  Architecture architecture;
  // CONTEXT: flags that say which processor's it is and that it has the registers of control.
  u16 flags_at;
  u32 flags;
  u16 registers_at; // those that CallingConvention counts, by number; x86: in another order
  u16 stack_pointer_at, ip_at;
  u16 code_segment_at, user_code; // 0: the processor has none

  // Where a SoftwareExceptionFrame has its CONTEXT, and in front of it pointers to where the registers from
  // `first_pointed` on were saved.
  u16 software_context, pointers_at;
  u8 first_pointed;
  u16 faulting_context; // of a FaultingExceptionFrame

  u64 register_at(u8 number) const { // in a CONTEXT
    constexpr u8 of_x86[] = {5, 4, 3, 2, 10, 6, 1, 0};
    return architecture == Architecture::x86 ? registers_at + 4u * of_x86[number & 7] : registers_at + u64{8} * number;
  }
};

// Null: none is known.
const FrameLayout *frame_layout(Architecture architecture);

} // namespace dnheap
