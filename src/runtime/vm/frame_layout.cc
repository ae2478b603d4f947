#include "runtime/vm/frame_layout.h"

namespace dnheap {

namespace {

constexpr u32 control = 1;
constexpr FrameLayout layouts[] = {
    {.architecture = Architecture::x64,
     .flags_at = 0x30,
     .flags = 0x100000 | control,
     .registers_at = 0x78,
     .stack_pointer_at = 0x98,
     .ip_at = 0xf8,
     .code_segment_at = 0x38,
     .user_code = 0x33,
     .software_context = 288,
     .pointers_at = 24 + 16 * 8, // behind the pointers to 16 vector registers
     .first_pointed = 0,
     .faulting_context = 32},
    {.architecture = Architecture::x86,
     .flags_at = 0,
     .flags = 0x10000 | control,
     .registers_at = 0x9c,
     .stack_pointer_at = 0xc4,
     .ip_at = 0xb8,
     .code_segment_at = 0xbc,
     .user_code = 0x23,
     .software_context = 0, // published
     .pointers_at = 0,
     .first_pointed = 0,
     .faulting_context = 16},
    {.architecture = Architecture::arm64,
     .flags_at = 0,
     .flags = 0x400000 | control,
     .registers_at = 0x08,
     .stack_pointer_at = 0x100,
     .ip_at = 0x108,
     .code_segment_at = 0,
     .user_code = 0,
     .software_context = 192,
     .pointers_at = 24,
     .first_pointed = 19,
     .faulting_context = 32},
};

} // namespace

const FrameLayout *frame_layout(Architecture architecture) {
  for (const FrameLayout &layout : layouts)
    if (layout.architecture == architecture)
      return &layout;
  return nullptr;
}

} // namespace dnheap
