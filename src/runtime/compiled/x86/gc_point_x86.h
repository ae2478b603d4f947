// GcPointX86: which registers and which pushed arguments hold references at a point of an x86 method: the last of the
// tables in GC info, which has three forms. It is apart from the slots of the frame, since it is read from the method's
// begin up to the point as a sequence of pushes, pops and calls. O(size of the table), 1 MiB at most.
#pragma once
#include "runtime/compiled/gc_info.h"
#include "runtime/compiled/x86/gc_header_x86.h"

namespace dnheap {

struct GcPointX86 {
  u32 registers = 0, interior = 0, pushed = 0; // masks by register number; pushed: words
  std::vector<GcSlot> arguments;               // the pushed references, in the order of pushing
};

// `bytes` is at the tables. What is returned counts only if `bytes` has not failed. `is_funclet`: the point is in a
// handler.
GcPointX86 find_gc_point_x86(GcBytesX86 &bytes, const GcHeaderX86 &header, const CodePoint &point, bool is_funclet);

// `flags`: the two low bits with which all tables write a place: 1: the reference may point into an object; 2: pinned.
GcSlot stack_slot_x86(GcSlot::Base base, i64 offset, u32 flags);

} // namespace dnheap
