// What the header of an image that was compiled ahead of time begins with, and what its version says of the rest:
// dotnet/runtime src/coreclr/inc/readytorun.h. Plain numbers.
#pragma once
#include "base/integers.h"

namespace dnheap {

// "RTR" and a zero.
inline constexpr u32 ready_to_run_signature = 0x00525452;
// Which version the GC info of an image has whose header says that version.
constexpr u32 ready_to_run_gc_info_version(u16 image_major) {
  return image_major >= 21 ? 5 : image_major >= 11 ? 4 : 3;
}
// And whether its debug info is packed bits, or nibbles.
constexpr bool ready_to_run_packs_debug_info(u16 image_major) { return image_major >= 16; }

} // namespace dnheap
