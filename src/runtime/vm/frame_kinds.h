// The kinds of Frames: records that the runtime leaves on a thread's stack where managed code calls into it, and from
// which the registers of that code can be restored. Lists their names, their shapes, and their identification: by
// number (.NET 10 and later) or vtable (8 and 9). Plain data. src/coreclr/vm/frames.h, inc/vptr_list.h,
// docs/design/datacontracts/StackWalk.md of dotnet/runtime.
#pragma once
#include "base/integers.h"

#include <span>
#include <string>

namespace dnheap {

enum class FrameShape : u8 {
  none, // has no data on its caller
  inlined_call,
  transition,         // leads to a TransitionBlock
  software_exception, // holds a CONTEXT, .NET 10 and later
  faulting_exception, // holds a CONTEXT
  resumable,          // leads to a CONTEXT
  hijack,
  helper_method, // .NET 8 and 9
};

struct FrameKind {
  const char *name; // "InlinedCallFrame"
  FrameShape shape = FrameShape::none;
  u8 number = 0;          // its number in .NET 10 without COM; 0: .NET 10 has no such kind
  u8 number_with_com = 0; // on Windows
  // For a helper method's Frame: the number of pointers after the Frame that lead to places with references; all: the
  // Frame has its own count.
  u8 protected_places = 0;
  static constexpr u8 all = 255;

  // The name of the descriptor's global.
  std::string identifier() const { return std::string(name) + "Identifier"; }
  // True if its caller continues exactly at its ip, which is not a return address.
  bool caller_is_active() const { return shape == FrameShape::resumable || shape == FrameShape::hijack; }
  // True if its caller does not continue, because it threw.
  bool caller_is_aborted() const {
    return shape == FrameShape::software_exception || shape == FrameShape::faulting_exception;
  }
};

std::span<const FrameKind> frame_kinds();
const FrameKind *find_frame_kind(const char *name);

// Their names in the order of their vtables in g_dacTable. MulticastFrame is in it only up to 8, those of COM only on
// Windows.
std::span<const char *const> frame_vtable_order();

} // namespace dnheap
