// FrameLayout: the layout of the runtime's records on stacks, by processor: a thread's registers in a CONTEXT, and
// values that are the same in all versions, so that no target needs to publish them. Plain data. pal/inc/pal.h and
// vm/frames.h of dotnet/runtime; seen in memory of 8.0 to 11.0 on x64, of 9.0 to 11.0 on arm64, of 10.0 on x86.
#pragma once
#include "target/target.h"

namespace dnheap {

struct FrameLayout {
  Architecture architecture;
  // Flags of a CONTEXT: they identify its processor and show that the CONTEXT has the control registers.
  u16 flags_at;
  u32 flags;
  u16 registers_at; // those of CallingConvention, by number; x86 has another order
  u16 stack_pointer_at, ip_at;
  u16 code_segment_at, user_code; // 0: the processor has no such register

  // Offset of the CONTEXT in a SoftwareExceptionFrame, and of the pointers in front of it to where the registers from
  // `first_pointed` on were saved.
  u16 software_context, pointers_at;
  u8 first_pointed;
  u16 faulting_context; // in a FaultingExceptionFrame

  u64 register_at(u8 number) const { // in a CONTEXT
    constexpr u8 of_x86[] = {5, 4, 3, 2, 10, 6, 1, 0};
    return architecture == Architecture::x86 ? registers_at + 4u * of_x86[number & 7] : registers_at + u64{8} * number;
  }
};

// Null: unknown processor.
const FrameLayout *frame_layout(Architecture architecture);

} // namespace dnheap
