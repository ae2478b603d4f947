// CodeBlock: what stands at a code address: a method's main body, or one of its funclets (the bodies of catch, finally,
// fault and filter, which are functions of their own). Plain data.
#pragma once
#include "base/integers.h"

namespace dnheap {

struct CodeBlock {
  Address method_desc = 0;
  Address start = 0; // of the method's main body
  // Of the RUNTIME_FUNCTION that holds the address.
  Address function_start = 0, function_end = 0;
  Address image_base = 0;  // what the addresses in unwind data are relative to
  Address unwind_info = 0; // of that function
  Address gc_info = 0;     // of the method
  u32 gc_info_version = 0; // 2 to 5
  bool is_funclet = false; // of the method that begins at `start`
  bool is_filter = false;  // of the funclets those that nothing was unwound for; also where that cannot be told
  bool ready_to_run = false;
  // Of code that was compiled while the program ran the header in front of it, of an image its ReadyToRun header.
  Address header = 0;
  u32 method_index = 0; // of an image: which of its functions the method begins with

  // How far into the method an address of it lies, as its GC info counts it.
  // Hot and cold parts of one method: offsets in the cold one go on where the hot one ends.
  u64 offset_of(Address ip) const { return cold_offset + (ip - (cold_offset ? function_start : start)); }
  u64 cold_offset = 0; // of function_start, in a cold part; else 0
};

} // namespace dnheap
