// The kinds of Frames: records that the runtime leaves on a thread's stack wherever managed code calls into it, and
// from which the registers of that code are known again. What they are called, what shape they have, and how each is
// told: by its number (.NET 10 on) or its vtable (8 and 9). Plain data. src/coreclr/vm/frames.h, inc/vptr_list.h,
// docs/design/datacontracts/StackWalk.md of dotnet/runtime.
#pragma once
#include "base/integers.h"

#include <span>
#include <string>

namespace dnheap {

enum class FrameShape : u8 {
  none, // says nothing of its caller
  inlined_call,
  transition,         // leads to a TransitionBlock
  software_exception, // holds a CONTEXT, .NET 10 on
  faulting_exception, // holds a CONTEXT
  resumable,          // leads to a CONTEXT
  hijack,
  helper_method, // 8 and 9
};

struct FrameKind {
  const char *name; // "InlinedCallFrame"
  FrameShape shape = FrameShape::none;
  u8 number = 0;          // .NET 10, where there is no COM; 0: there it is not
  u8 number_with_com = 0; // on Windows
  // Behind a helper method's: how many pointers to places that hold references; all: as many as it says.
  u8 protected_places = 0;
  static constexpr u8 all = 255;

  // The name of the descriptor's global.
  std::string identifier() const { return std::string(name) + "Identifier"; }
  // Its caller goes on where it stands, rather than where a call returns to.
  bool caller_is_active() const { return shape == FrameShape::resumable || shape == FrameShape::hijack; }
  // Its caller does not go on: it threw.
  bool caller_is_aborted() const {
    return shape == FrameShape::software_exception || shape == FrameShape::faulting_exception;
  }
};

std::span<const FrameKind> frame_kinds();
const FrameKind *find_frame_kind(const char *name);

// Their names in the order in which g_dacTable has their vtables. MulticastFrame is in it up to 8 only, those of COM on
// Windows only.
std::span<const char *const> frame_vtable_order();

} // namespace dnheap
