// WalkPosition: where a walk of a stack is: the registers of one frame, and how the thread goes on there. The walk
// moves it; what looks for references reads it. Plain data.
#pragma once
#include "runtime/compiled/registers.h"

namespace dnheap {

struct WalkPosition {
  Registers registers;
  bool is_active = true, is_aborted = false;
  bool is_unsafe_call = false; // at a call that no GC can interrupt: GC info does not list the live slots there
};

} // namespace dnheap
