// CodeBlock: the managed code at an address: a method's main body, or one of its funclets (the bodies of catch,
// finally, fault and filter, which are functions of their own). Plain data.
#pragma once
#include "base/integers.h"

namespace dnheap {

struct CodeBlock {
  Address method_desc = 0;
  Address start = 0; // of the method's main body
  // The RUNTIME_FUNCTION that contains the address.
  Address function_start = 0, function_end = 0;
  Address image_base = 0;  // base of the addresses in unwind data
  Address unwind_info = 0; // of that function
  Address gc_info = 0;     // of the method
  u32 gc_info_version = 0; // 2 to 5
  bool is_funclet = false; // of the method that begins at `start`
  bool is_filter = false;  // set for funclets that run before anything is unwound; also if that is unknown
  bool ready_to_run = false;
  // For code that was compiled at run time, the header in front of it; for code of an image, its ReadyToRun header.
  Address header = 0;
  u32 method_index = 0; // for code of an image: index of the method's first function

  // Returns the offset of an address in the method, as its GC info counts it. If a method has a hot and a cold part,
  // offsets in the cold part continue where the hot part ends.
  u64 offset_of(Address ip) const { return cold_offset + (ip - (cold_offset ? function_start : start)); }
  u64 cold_offset = 0; // offset of function_start in a cold part; else 0
};

} // namespace dnheap
