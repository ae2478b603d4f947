// MethodTableFlags: bits of a NativeAOT MethodTable's flags that no version publishes. Source:
// src/coreclr/nativeaot/Runtime/inc/MethodTable.h.
#pragma once
#include "base/integers.h"

namespace dnheap {

struct MethodTableFlags {
  enum : u32 {
    kind_canonical = 0,
    kind_parameterized = 0x00020000,
    has_dispatch_map = 0x00040000,
    is_dynamic = 0x00080000,
    has_sealed_slots = 0x00400000,
  };
};

} // namespace dnheap
