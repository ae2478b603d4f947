// The signature of ReadyToRun headers, and facts that follow from their version: dotnet/runtime
// src/coreclr/inc/readytorun.h. Plain numbers.
#pragma once
#include "base/integers.h"

namespace dnheap {

// "RTR" and a zero.
inline constexpr u32 ready_to_run_signature = 0x00525452;
// Returns the version of the GC info in an image whose header has that major version.
constexpr u32 ready_to_run_gc_info_version(u16 image_major) {
  return image_major >= 21 ? 5 : image_major >= 11 ? 4 : 3;
}
// True if its debug info is packed bits, false if it is nibbles.
constexpr bool ready_to_run_packs_debug_info(u16 image_major) { return image_major >= 16; }

} // namespace dnheap
